# The programs that `make linux` puts into Linux's /bin: each linux/NAME.S, linked statically and without a C library,
# so that every instruction of them is known.

LINUX_PROGRAMS := $(patsubst linux/%.S,$(O)/linux/bin/%,$(sort $(wildcard linux/*.S)))

# The kernel's own function under test.
$(O)/linux/bin/mixed: lab/bodies.S

.PHONY: linux-programs
linux-programs: $(LINUX_PROGRAMS)
unit: linux-programs
$(LINUX_PROGRAMS): $(O)/linux/bin/%: linux/%.S linux/system.inc linux/shares.S x86/debug_exit.h $(O)/flags.stamp
	@mkdir -p $(@D)
	$(call run_as,AS)$(CC) -m64 -static -nostdlib -fno-pie -no-pie -I. -Wl,--build-id=none -Wl,-z,noexecstack $< $(filter lab/%,$^) -o $@
