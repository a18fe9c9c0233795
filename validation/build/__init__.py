"""`porter build`: compiles every ported translation unit and says what each kernel needs of the GPU."""
