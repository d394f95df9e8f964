# The fuzzers (tests/fuzz/fuzz.h), and pmusim under the same sanitizers. Always clang, whatever CC says: libFuzzer
# comes with it.

FUZZ_CC := clang
FUZZ_FLAGS := -std=gnu11 -O1 -g $(WARNINGS) -I. -DPMULAB_VERSION='"$(VERSION)"' \
	-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_COVERAGE := -fsanitize=fuzzer-no-link
FUZZERS := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_SIM_OBJ := $(SIM_SRC:%=$(O)/fuzz/%.o) $(FACTS_SRC:%=$(O)/fuzz/%.o) $(O)/fuzz/profiles.c.o
FUZZ_HOST_OBJ := $(HOST_SRC:%=$(O)/fuzz/%.o)
FUZZ_LIB := $(O)/fuzz/libpmusim.a
FUZZ_KERNEL_OBJ := $(O)/fuzz/boot/bootinfo.c.o $(O)/fuzz/boot/pvh.c.o $(O)/fuzz/kernel/acpi.c.o $(O)/fuzz/kernel/power.c.o
FUZZ_OWN_OBJ := $(patsubst $(O)/fuzz/%,$(O)/fuzz/tests/fuzz/%.c.o,$(FUZZERS))
# make fuzz: for each fuzzer
SECONDS ?= 600
MACHINES ?= 10000

$(FUZZ_SIM_OBJ) $(FUZZ_HOST_OBJ) $(FUZZ_KERNEL_OBJ) $(FUZZ_OWN_OBJ): $(O)/flags.stamp
# Comparisons are of no use to the fuzzer where each instruction makes a dozen, and they cost most of the time.
$(filter $(O)/fuzz/sim/cpu/% $(O)/fuzz/sim/dev/% $(O)/fuzz/sim/fpu/% $(O)/fuzz/sim/pmu/%,$(FUZZ_SIM_OBJ)): \
	FUZZ_COVERAGE += -fno-sanitize-coverage=trace-cmp
$(filter-out $(O)/fuzz/profiles.c.o,$(FUZZ_SIM_OBJ)) $(FUZZ_HOST_OBJ) $(FUZZ_KERNEL_OBJ) $(FUZZ_OWN_OBJ): $(O)/fuzz/%.o: %
	@mkdir -p $(@D)
	$(call run_as,CC)$(FUZZ_CC) $(FUZZ_FLAGS) $(FUZZ_COVERAGE) -MMD -MP -c $< -o $@
$(O)/fuzz/profiles.c.o: $(O)/profiles.c
	@mkdir -p $(@D)
	$(call run_as,CC)$(FUZZ_CC) $(FUZZ_FLAGS) $(FUZZ_COVERAGE) -c $< -o $@

$(O)/fuzz/fuzz_bootinfo: $(FUZZ_KERNEL_OBJ)
$(O)/fuzz/fuzz_options: $(O)/fuzz/sim/host/options.c.o
$(filter-out $(O)/fuzz/fuzz_bootinfo,$(FUZZERS)): $(FUZZ_LIB)
$(FUZZ_LIB): $(FUZZ_SIM_OBJ) $(O)/files.stamp
	@rm -f $@
	$(call run_as,AR)$(AR) rcs $@ $(filter %.o,$^)
$(FUZZERS): $(O)/fuzz/%: $(O)/fuzz/tests/fuzz/%.c.o
	$(call run_as,LD)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer $(filter %.o,$^) $(filter %.a,$^) $(SIM_LIBS) -o $@
$(O)/fuzz/pmusim: $(FUZZ_HOST_OBJ) $(FUZZ_LIB)
	$(call run_as,LD)$(FUZZ_CC) $(FUZZ_FLAGS) $^ $(SIM_LIBS) -o $@

unit: $(FUZZERS) $(O)/fuzz/pmusim

.PHONY: fuzz
fuzz: ## run each fuzzer for SECONDS=600 (what it finds is in build/fuzz), and MACHINES=10000 random machines
	@scripts/setup test
	$(call build,all $(FUZZERS))
	@FUZZ_SECONDS=$(SECONDS) $(PYTHON) tests/t_fuzz.py
	@$(PYTHON) tests/random_profiles.py $(MACHINES) $$(date +%s)
-include $(FUZZ_SIM_OBJ:.o=.d) $(FUZZ_HOST_OBJ:.o=.d) $(FUZZ_KERNEL_OBJ:.o=.d) $(FUZZ_OWN_OBJ:.o=.d)
