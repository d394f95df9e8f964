/* shares-long: the same, ten times as long: for what takes milliseconds. */
#define ROUNDS 4000

#include "linux/shares.S"
