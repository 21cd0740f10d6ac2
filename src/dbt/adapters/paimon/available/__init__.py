"""What macros call on `adapter`, by concern: a module and a base class of the adapter each."""
