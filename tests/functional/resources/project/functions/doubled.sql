price * 2
