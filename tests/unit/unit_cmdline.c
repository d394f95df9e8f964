/* The kernel's command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runner/cmdline.h"

static struct cmdline cl;

/* The words must be in one message, in any place. */
static void assert_error(const char *text, const char *word, const char *right)
{
    memset(&cl, 0xa5, sizeof cl); /* defaults must be filled in, not found by luck */
    assert_false(cmdline_parse(&cl, text));
    assert_true(cl.n_errors >= 1);
    if (!strstr(cl.errors[0], word) || !strstr(cl.errors[0], right))
        fail_msg("\"%s\" gives \"%s\", which lacks \"%s\" or \"%s\"", text, cl.errors[0], word,
                 right);
}

static void assert_good(const char *text)
{
    memset(&cl, 0xa5, sizeof cl);
    if (!cmdline_parse(&cl, text))
        fail_msg("\"%s\" is refused: %s", text, cl.errors[0]);
    assert_int_equal(cl.n_errors, 0);
}

static void defaults(void **state)
{
    (void)state;
    const char *const empty[] = {"", " ", "    "};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        assert_good(empty[i]);
        assert_int_equal(cl.n_select, 0);
        assert_false(cl.list);
        assert_false(cl.trace_msr);
        assert_false(cl.selftest);
        assert_int_equal(cl.pmi, PMI_FIXED);
        assert_int_equal(cl.apic, APIC_AUTO);
        assert_true(cl.console_serial);
        assert_true(cl.console_vga);
        assert_int_equal(cl.serial_port, 0x3f8);
        assert_int_equal(cl.serial_baud, 115200);
        assert_in_range(cl.watchdog_ms, 10, 60000);
        assert_int_equal(cl.end, END_HALT);
    }
}

static void clock_word(void **state)
{
    (void)state;
    const char *const names[] = {"auto", "cpuid", "hpet", "acpi", "8254", "none"};
    char word[16];
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(word, sizeof word, "clock=%s", names[i]);
        assert_good(word);
        assert_int_equal(cl.clock, CLOCK_AUTO + (int)i);
    }
    assert_error("clock=sundial", "clock=sundial", "hpet");
    assert_error("clock", "clock", "hpet");
}

static void end_word(void **state)
{
    (void)state;
    assert_good("end=halt");
    assert_int_equal(cl.end, END_HALT);
    assert_good("end=poweroff");
    assert_int_equal(cl.end, END_POWEROFF);
    assert_good("run=15-1 end=reboot");
    assert_int_equal(cl.end, END_REBOOT);
    assert_error("end=off", "end=off", "poweroff");
    assert_int_equal(cl.end, END_HALT);
    assert_error("end", "end", "reboot");
    assert_error("ending=halt", "ending=halt", "end=");
}

static void menu_word(void **state)
{
    (void)state;
    assert_good("");
    assert_false(cl.menu);
    assert_good("menu");
    assert_true(cl.menu);
    assert_in_range(cl.menu_seconds, 1, 60);
    assert_good("menu=0");
    assert_true(cl.menu);
    assert_int_equal(cl.menu_seconds, 0);
    assert_good("run=15-1 menu=3600");
    assert_int_equal(cl.menu_seconds, 3600);
    assert_error("menu=", "menu=", "seconds");
    assert_error("menu=soon", "menu=soon", "seconds");
    assert_error("menu=3601", "menu=3601", "3600");
    assert_false(cl.menu);
}

static void every_word(void **state)
{
    (void)state;
    assert_good("run=15-3,14-* list trace=msr pmi=nmi apic=xapic console=serial serial=0x2f8,9600 "
                "watchdog=50 selftest");
    assert_int_equal(cl.n_select, 2);
    assert_string_equal(cl.select[0], "15-3");
    assert_string_equal(cl.select[1], "14-*");
    assert_true(cl.list);
    assert_true(cl.trace_msr);
    assert_int_equal(cl.pmi, PMI_NMI);
    assert_int_equal(cl.apic, APIC_XAPIC);
    assert_true(cl.console_serial);
    assert_false(cl.console_vga);
    assert_int_equal(cl.serial_port, 0x2f8);
    assert_int_equal(cl.serial_baud, 9600);
    assert_int_equal(cl.watchdog_ms, 50);
    assert_true(cl.selftest);

    assert_good("pmi=fixed apic=x2apic console=vga");
    assert_int_equal(cl.pmi, PMI_FIXED);
    assert_int_equal(cl.apic, APIC_X2APIC);
    assert_false(cl.console_serial);
    assert_true(cl.console_vga);
    assert_good("console=serial,vga");
    assert_true(cl.console_serial);
    assert_true(cl.console_vga);
}

static void all_selects_all(void **state)
{
    (void)state;
    assert_good("run=all");
    assert_true(cmdline_selects(&cl, "15-1"));
    assert_true(cmdline_selects(&cl, "18-15"));
    assert_good("");
    assert_true(cmdline_selects(&cl, "15-1"));
}

static void selection(void **state)
{
    (void)state;
    assert_good("run=15-1,14-*");
    assert_true(cmdline_selects(&cl, "15-1"));
    assert_false(cmdline_selects(&cl, "15-11")); /* not a prefix match */
    assert_false(cmdline_selects(&cl, "15-2"));
    assert_true(cmdline_selects(&cl, "14-1"));
    assert_true(cmdline_selects(&cl, "14-13"));
    assert_false(cmdline_selects(&cl, "4-1"));
    assert_good("run=1-*");
    assert_false(cmdline_selects(&cl, "15-1")); /* "1-*" is chapter 1 */
}

static void white_space(void **state)
{
    (void)state;
    assert_good("  run=15-3   pmi=nmi  ");
    assert_int_equal(cl.n_select, 1);
    assert_int_equal(cl.pmi, PMI_NMI);
}

static void errors_name_the_word_and_what_would_be_right(void **state)
{
    (void)state;
    assert_error("pmi=maybe", "pmi=maybe", "nmi");
    assert_error("pmi=maybe", "pmi=maybe", "fixed");
    assert_error("apic=3", "apic=3", "x2apic");
    assert_error("trace=all", "trace=all", "msr");
    assert_error("console=printer", "printer", "serial");
    assert_error("console=serial,printer", "printer", "vga");
    assert_error("serial=zz", "serial=zz", "0x3f8");
    assert_error("garbage", "garbage", "run=");
    assert_error("watchdog=5", "watchdog=5", "10");
    assert_error("watchdog=60001", "watchdog=60001", "60000");
    assert_error("watchdog=abc", "watchdog=abc", "10");
    assert_error("run=", "run=", "15-3");
    assert_error("run=15_3", "15_3", "15-3");
    assert_error("run=15", "run=15:", "run=15-*");
    assert_error("run=15-3,14", "run=15-3,14:", "run=14-*");
    assert_error("run=15-3,,15-4", "run=", "15-3");
    assert_error("run=15-3,", "run=", "15-3");
}

static void bad_values(void **state)
{
    (void)state;
    const char *const bad[] = {
        "pmi",
        "pmi=",
        "pmi=fixed,nmi",
        "pmi=nmix",
        "PMI=nmi",
        "=",
        "=nmi",
        "trace=",
        "trace",
        "apic=",
        "list=1",
        "selftest=yes",
        "serial=",
        "console=",
        "console=,",
        "serial=0x3f8,",
        "serial=0x3f8,0",
        "serial=0x10000,9600",
        "serial=0x3f8,9600,8",
        "watchdog=",
        "watchdog=-1",
        "watchdog=99999999999999999999",
        "run=15-",
        "run=-3",
        "run=*",
        "run=15-3x",
        "run=*-3",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memset(&cl, 0xa5, sizeof cl);
        if (cmdline_parse(&cl, bad[i]))
            fail_msg("\"%s\" is taken", bad[i]);
        assert_true(cl.n_errors >= 1);
        assert_true(cl.errors[0][0] != '\0');
    }
}

/* Every wrong word is counted, also past the room for messages. */
static void many_errors(void **state)
{
    (void)state;
    char text[512] = "";
    for (int i = 0; i < CMDLINE_MAX_ERRORS + 5; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "bad%d ", i);
    assert_false(cmdline_parse(&cl, text));
    assert_int_equal(cl.n_errors, CMDLINE_MAX_ERRORS + 5);
    for (int i = 0; i < CMDLINE_MAX_ERRORS; i++)
        assert_true(memchr(cl.errors[i], '\0', sizeof cl.errors[i]) != NULL);
}

/* Right words around a wrong one still count (the console must be known to print the error on). */
static void a_wrong_word_spoils_no_other(void **state)
{
    (void)state;
    assert_false(cmdline_parse(&cl, "serial=0x2f8,9600 rubbish console=serial"));
    assert_int_equal(cl.n_errors, 1);
    assert_int_equal(cl.serial_port, 0x2f8);
    assert_int_equal(cl.serial_baud, 9600);
    assert_false(cl.console_vga);
}

/* A refused value must not cost the console on which the refusal is to be read. */
static void a_refused_value_leaves_the_console_alone(void **state)
{
    (void)state;
    const char *const bad[] = {"serial=zz",           "serial=0x2f8,7", "console=printer",
                               "console=vga,printer", "console=",       "serial="};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(cmdline_parse(&cl, bad[i]));
        assert_int_equal(cl.serial_port, 0x3f8);
        assert_int_equal(cl.serial_baud, 115200);
        assert_true(cl.console_serial);
        assert_true(cl.console_vga);
    }
}

/* More selections than there is room for, and words longer than any buffer: an error, never a wild
 * write. */
static void too_much(void **state)
{
    (void)state;
    char text[4096] = "run=15-1";
    for (int i = 1; i <= CMDLINE_MAX_SELECT; i++)
        strcat(text, ",15-1");
    assert_false(cmdline_parse(&cl, text));
    assert_true(cl.n_select <= CMDLINE_MAX_SELECT);

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_false(cmdline_parse(&cl, text));
    assert_true(memchr(cl.errors[0], '\0', sizeof cl.errors[0]) != NULL);
    memcpy(text, "run=", 4);
    assert_false(cmdline_parse(&cl, text));
    memcpy(text, "pmi=", 4);
    assert_false(cmdline_parse(&cl, text));
    strcpy(text, "run=123456789012345-1234567890");
    assert_false(cmdline_parse(&cl, text));
}

/* Random text in an exactly fitting heap block: AddressSanitizer sees any read past its end. */
static void random_text(void **state)
{
    (void)state;
    static const char *const pieces[] = {"run=", "15-3", ",",         " ",       "*",
                                         "pmi=", "nmi",  "=",         "serial=", "0x",
                                         "3f8",  "9600", "watchdog=", "-",       "\t",
                                         "list", "\x80", "console="};
    uint32_t random = 1;
    for (int round = 0; round < 20000; round++) {
        char text[256] = "";
        for (int i = 0; i < 10; i++) {
            random = random * 1664525 + 1013904223;
            strcat(text, pieces[(random >> 16) % (sizeof pieces / sizeof *pieces)]);
        }
        char *exact = strdup(text);
        assert_non_null(exact);
        bool good = cmdline_parse(&cl, exact);
        assert_int_equal(good, cl.n_errors == 0);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(end_word),
        cmocka_unit_test(menu_word),
        cmocka_unit_test(clock_word),
        cmocka_unit_test(every_word),
        cmocka_unit_test(all_selects_all),
        cmocka_unit_test(selection),
        cmocka_unit_test(white_space),
        cmocka_unit_test(errors_name_the_word_and_what_would_be_right),
        cmocka_unit_test(bad_values),
        cmocka_unit_test(many_errors),
        cmocka_unit_test(a_wrong_word_spoils_no_other),
        cmocka_unit_test(a_refused_value_leaves_the_console_alone),
        cmocka_unit_test(too_much),
        cmocka_unit_test(random_text),
    };
    return cmocka_run_group_tests_name("cmdline", tests, NULL, NULL);
}
