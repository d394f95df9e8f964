# The guests: small programs that test system instructions, the PMU, or pmusim's patience. Each NAME.S is
# assembled twice: for pmusim, and with TCG defined for QEMU, where some cases would end the machine.

GUEST_SRC := $(sort $(wildcard tests/guests/*.S))
GUESTS := $(GUEST_SRC:tests/guests/%.S=$(O)/test/guests/%.elf) $(GUEST_SRC:tests/guests/%.S=$(O)/test/guests/%.tcg.elf)
OBJCOPY ?= objcopy
GUEST_ASFLAGS := -m64 -fno-pie -Itests/guests -I. -x assembler-with-cpp
GUEST_LDFLAGS := -m64 -static -nostdlib -Wl,-T,tests/guests/link.ld -Wl,--build-id=none \
	-Wl,-z,noexecstack -Wl,-z,max-page-size=4096

# A 32-bit ELF file, whatever it holds: that is what Multiboot's loaders take.
define assemble
	@mkdir -p $(@D)
	$(call run_as,AS)$(CC) $(GUEST_ASFLAGS) $(1) -MMD -MP -MT $@ -MF $@.d -c $< -o $@.o && \
	$(CC) $(GUEST_LDFLAGS) $@.o -o $@.64 && $(OBJCOPY) -O elf32-i386 $@.64 $@
endef
$(O)/test/guests/%.tcg.elf: tests/guests/%.S tests/guests/link.ld $(O)/flags.stamp
	$(call assemble,-DTCG)
$(O)/test/guests/%.elf: tests/guests/%.S tests/guests/link.ld $(O)/flags.stamp
	$(call assemble,)

unit: $(GUESTS)
-include $(GUESTS:=.d)
