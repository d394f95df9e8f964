/* The 8259 pair: not used, but to be kept quiet. */
#ifndef PMULAB_PIC_H
#define PMULAB_PIC_H

/* Moves its vectors away from the exceptions and masks every line; a spurious interrupt that it
 * still delivers is ignored. */
void pic_disable(void);

#endif
