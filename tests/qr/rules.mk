# The QR encoder as a host program, under the sanitizers, for tests/t_qr.py.

$(O)/test/qr: tests/qr/main.c runner/qr.c runner/qr.h $(O)/flags.stamp
	@mkdir -p $(@D)
	$(call run_as,CC)gcc $(UNIT_CFLAGS) $(filter %.c,$^) -o $@

unit: $(O)/test/qr
