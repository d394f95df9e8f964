# PMU Lab. `make help` lists what there is; `make run` is the way in.

O ?= build
ifeq ($(origin CC),default)
CC := gcc
endif
NM ?= nm
PYTHON ?= python3
VERSION := $(shell cat VERSION)

# What `make run` takes; scripts/run checks each word.
EX ?=
ENGINE ?= auto
PROFILE ?= skylake
CPUS ?=
TRACE ?=
CMDLINE ?=
MUTATE ?=
LIMIT ?= 120
# What `make usb` writes to, and which tests `make test` runs.
DEV ?=
ONLY ?=
# What Linux runs (`make linux`). It is sh's, not make's: $HOME need not be written $$HOME.
CMD ?=
override CMD := $(value CMD)
export CC O EX ENGINE PROFILE CPUS TRACE CMDLINE MUTATE LIMIT PYTHON CMD

# A word that is misspelt on make's command line would be ignored silently.
WORDS := O V CC NM OBJCOPY PYTHON EX ENGINE PROFILE CPUS TRACE CMDLINE MUTATE LIMIT CMD DEV ONLY ALL SECONDS MACHINES
unknown := $(filter-out $(WORDS),$(foreach v,$(.VARIABLES),$(if $(findstring command line,$(origin $v)),$v)))
ifneq ($(unknown),)
$(error $(foreach v,$(unknown),$v=: there is no such word); known are $(WORDS:%=%=))
endif

# V=1 shows the whole commands.
V ?= 0
ifeq ($(V),0)
run_as = @printf '  %-4s %s\n' $(1) $@;
endif

WARNINGS := -Wall -Wextra -Werror

# -Oz, or -Os for an older compiler: the image has to stay small, and nothing that is measured is compiled:
# bodies and window are assembly.
# -fcf-protection=none: some distributions turn CET on by default, and an ENDBR64 at the head of a function
# under test would be one instruction more than its listing shows.
SMALL := $(shell $(CC) -Oz -fsyntax-only -x c /dev/null 2>/dev/null && echo -Oz || echo -Os)
KERNEL_CFLAGS := -std=gnu11 -m64 -ffreestanding -mgeneral-regs-only -mno-red-zone -fno-pie \
	-fno-stack-protector -fno-omit-frame-pointer -fno-asynchronous-unwind-tables \
	-fcf-protection=none $(SMALL) -g $(WARNINGS) -I. -DPMULAB_VERSION='"$(VERSION)"'
# max-page-size: keeps the Multiboot2 header within the first 32 KiB of the file.
KERNEL_LDFLAGS := -m64 -static -nostdlib -Wl,-T,linker.ld -Wl,--build-id=none -Wl,-z,noexecstack \
	-Wl,-z,max-page-size=4096 -Wl,--fatal-warnings
SIM_CFLAGS := -std=gnu11 -O2 -g $(WARNINGS) -I. -DPMULAB_VERSION='"$(VERSION)"'
SIM_LIBS := -lZydis

# The rooms of the kernel, from the ground up.
KERNEL_DIRS := x86 boot kernel kernel/console lapic pmu lab $(sort $(wildcard experiments/*)) runner
KERNEL_SRC := $(sort $(wildcard $(addsuffix /*.S,$(KERNEL_DIRS)) $(addsuffix /*.c,$(KERNEL_DIRS))))
KERNEL_OBJ := $(KERNEL_SRC:%=$(O)/%.o)
LAB_OBJ := $(filter $(O)/lab/% $(O)/experiments/%,$(KERNEL_OBJ))
PROFILES := $(sort $(wildcard sim/profiles/*.profile))
# The simulator is a library, and the program around it. It knows the same facts as the kernel, compiled for the host.
SIM_SRC := $(sort $(wildcard $(addsuffix /*.c,sim sim/cpu sim/dev sim/fpu sim/pmu)))
FACTS_SRC := $(sort $(wildcard x86/*.c))
SIM_OBJ := $(SIM_SRC:%=$(O)/%.o) $(FACTS_SRC:%=$(O)/host/%.o) $(O)/profiles.c.o
HOST_SRC := $(sort $(wildcard sim/host/*.c))
HOST_OBJ := $(HOST_SRC:%=$(O)/%.o)
LIBPMUSIM := $(O)/libpmusim.a

# The kernel's pure parts as host programs, under the sanitizers: what each unit test is made of.
UNIT_CFLAGS := -std=gnu11 -O1 -g $(WARNINGS) -I. -fsanitize=address,undefined -fno-sanitize-recover=all
unit_printf := kernel/console/printf.c kernel/console/console.c
unit_cmdline := runner/cmdline.c kernel/console/printf.c
unit_framebuffer := $(addprefix kernel/console/,framebuffer.c screen.c report.c cp437.c font.c printf.c)
unit_report := $(addprefix kernel/console/,screen.c report.c cp437.c printf.c)
unit_history := kernel/console/history.c kernel/crc32.c
unit_keys := kernel/console/keys.c
unit_bootinfo := boot/bootinfo.c
unit_pvh := boot/pvh.c boot/bootinfo.c
unit_acpi := kernel/acpi.c
unit_power := kernel/power.c kernel/acpi.c
unit_ending := kernel/ending.c
unit_ending_flags := -include tests/unit/no_ports.h
unit_serial := kernel/console/serial.c
unit_serial_flags := -include tests/unit/no_ports.h
unit_float := $(sort $(wildcard sim/fpu/float*.c))
unit_decode := x86/decode.c x86/events.c x86/text.c
unit_text := x86/text.c
unit_lbr := pmu/lbr_format.c kernel/console/printf.c
unit_ds := pmu/ds_layout.c kernel/console/printf.c
unit_pebs := pmu/pebs_format.c
unit_kind := pmu/kind.c x86/events.c
unit_maker := x86/maker.c
unit_errata := pmu/errata.c kernel/console/printf.c kernel/console/console.c
unit_tap := runner/tap.c kernel/console/printf.c kernel/console/console.c
unit_summary := runner/summary.c runner/qr.c kernel/crc32.c kernel/console/printf.c kernel/console/console.c
unit_summary_flags := -DPMULAB_VERSION='"$(VERSION)"'
unit_tap_flags := -include tests/unit/no_traps.h
UNIT_TESTS := $(patsubst tests/unit/%.c,$(O)/test/unit/%,$(sort $(wildcard tests/unit/unit_*.c)))

.DELETE_ON_ERROR:
.SECONDEXPANSION:
.PHONY: all kernel sim unit run linux iso usb test test-all lint setup clean help FORCE

all: kernel sim ## build the kernel and the simulator (the default)
kernel: $(O)/pmulab.elf ## build the kernel, build/pmulab.elf
sim: $(O)/pmusim ## build the simulator, build/pmusim, and build/libpmusim.a for other programs

# Builds these targets on all processors, but where make was told how many; two at once in one folder wait for each
# other.
define build
	@$(call writable,$(O))
	+@if command -v flock >/dev/null; then exec 9>$(O)/lock && flock 9; fi && \
		$(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$$(nproc || echo 1)) $(1) >&2
endef
# A checkout may be read-only: then the folder of what is built must be another.
writable = mkdir -p $(1) 2>/dev/null && [ -w $(1) ] || \
	{ echo "make: cannot write to '$(1)': name a folder for what is built, such as O=/tmp/pmulab" >&2; exit 1; }

run: ## run the experiments: EX=15-3,15-11 ENGINE=auto|sim|kvm|tcg PROFILE=skylake CPUS=2 TRACE=msr CMDLINE=
	@scripts/setup run
	$(call build,all $(if $(MUTATE),$(O)/mutants/programs))
	@scripts/run

linux: ## boot Debian's Linux on the simulator: CMD='perf stat true' (default: a shell) PROFILE=skylake CPUS=1 CMDLINE=
	@scripts/setup linux
	$(call build,sim linux-programs)
	@scripts/linux

iso: ## build/pmulab.iso for BIOS and UEFI, from a disc or (by dd) a USB stick
	@scripts/setup iso
	$(call build,kernel)
	scripts/iso $(O)/pmulab.iso

usb: iso ## write the image to a USB stick: DEV=/dev/sdX; shows what the device is, and asks
	@scripts/usb $(O)/pmulab.iso "$(DEV)"

test: ## every test (ONLY=word: those with it in their name); the last line is "N passed, N failed"
	@scripts/setup test
	$(call build,all unit)
	@$(PYTHON) tests/run.py $(ONLY)

test-all: ## the same with the long matrices whole: every MSR access refused, 10,000 random machines
	@ALL=1 $(MAKE) --no-print-directory test

lint: ## check the format (clang-format), and look for mistakes (cppcheck, clang-tidy, shellcheck)
	@scripts/setup lint
	@scripts/lint

setup: ## install (or name) every package that the other targets need
	@scripts/setup all

clean: ## remove the build output
	rm -rf $(O)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

unit: $(UNIT_TESTS)

# Rebuild when the compiler, its flags or the list of files change, not only when a file does: the stamp is
# written anew only when its text differs.
define stamp
	@$(call writable,$(@D))
	@printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(1))' > $@
endef
$(O)/flags.stamp: FORCE
	$(call stamp,$(CC) $(KERNEL_CFLAGS) $(KERNEL_LDFLAGS) $(SIM_CFLAGS) $(SIM_LIBS))
$(O)/files.stamp: FORCE
	$(call stamp,$(KERNEL_SRC) $(SIM_SRC) $(HOST_SRC) $(PROFILES))

# The kernel is linked twice: the first time to learn the addresses of its functions, the second time with
# the table of them (for backtraces). The table lies behind the text, so the text does not move.
$(KERNEL_OBJ): $(O)/%.o: % $(O)/flags.stamp
	@mkdir -p $(@D)
	$(call run_as,CC)$(CC) $(KERNEL_CFLAGS) -MMD -MP -c $< -o $@
$(O)/symbols0.S $(O)/symbols.S: scripts/mksyms.py
$(O)/symbols0.S:
	$(call run_as,GEN)$(PYTHON) scripts/mksyms.py </dev/null >$@
$(O)/symbols.S: $(O)/pmulab.pre.elf
	$(call run_as,GEN)$(NM) -n $< | $(PYTHON) scripts/mksyms.py >$@
$(O)/symbols0.S.o $(O)/symbols.S.o: %.o: % $(O)/flags.stamp
	$(call run_as,CC)$(CC) $(KERNEL_CFLAGS) -c $< -o $@
$(O)/pmulab.pre.elf: $(O)/symbols0.S.o
$(O)/pmulab.elf: $(O)/symbols.S.o
$(O)/pmulab.pre.elf $(O)/pmulab.elf: $(filter-out $(LAB_OBJ),$(KERNEL_OBJ)) $(O)/lab_state.o linker.ld $(O)/files.stamp
	$(call run_as,LD)$(CC) $(KERNEL_LDFLAGS) $(filter %.o,$^) -o $@
# Sheets and equipment as one object, by whose name linker.ld knows them: a folder's name may stand anywhere in a path.
$(O)/lab_state.o: $(LAB_OBJ)
	$(call run_as,LD)$(CC) -m64 -nostdlib -r $(sort $(filter %.o,$^)) -o $@

$(filter $(O)/sim/%,$(SIM_OBJ)) $(HOST_OBJ): $(O)/%.o: % $(O)/flags.stamp
	@mkdir -p $(@D)
	$(call run_as,CC)$(CC) $(SIM_CFLAGS) -MMD -MP -c $< -o $@
$(FACTS_SRC:%=$(O)/host/%.o): $(O)/host/%.o: % $(O)/flags.stamp
	@mkdir -p $(@D)
	$(call run_as,CC)$(CC) $(SIM_CFLAGS) -MMD -MP -c $< -o $@
$(O)/profiles.c: scripts/embed.py $(PROFILES) $(O)/files.stamp
	$(call run_as,GEN)$(PYTHON) scripts/embed.py $(PROFILES) >$@
$(O)/profiles.c.o: $(O)/profiles.c sim/profiles/embedded.h $(O)/flags.stamp
	$(call run_as,CC)$(CC) $(SIM_CFLAGS) -c $< -o $@
$(LIBPMUSIM): $(SIM_OBJ) $(O)/files.stamp
	@rm -f $@
	$(call run_as,AR)$(AR) rcs $@ $(filter %.o,$^)
$(O)/pmusim: $(HOST_OBJ) $(LIBPMUSIM)
	$(call run_as,LD)$(CC) $^ $(SIM_LIBS) -o $@

# Always gcc, whatever CC says: clang's sanitizers are a package of their own.
$(UNIT_TESTS): $(O)/test/unit/%: tests/unit/%.c $$(%) \
		$(wildcard $(addsuffix /*.h,$(KERNEL_DIRS))) $(O)/flags.stamp
	@mkdir -p $(@D)
	$(call run_as,CC)gcc $(UNIT_CFLAGS) $($(@F)_flags) $(filter %.c,$^) -lcmocka -o $@

include $(wildcard linux/rules.mk tests/*/rules.mk)
-include $(KERNEL_OBJ:.o=.d) $(SIM_OBJ:.o=.d) $(HOST_OBJ:.o=.d)
