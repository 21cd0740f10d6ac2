"""The methods that macros call on `adapter`: one module and one mixin class for each feature."""
