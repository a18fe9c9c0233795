"""What HIP code says about its 64 lanes: masks, lane numbers, and what counts with 32 beside them."""
