/* Tables of Fourier transforms are kept for later ones of the same lengths. Called, as transforms
 * are, from R's thread only. */
#ifndef JOIST_CORE_OPS_SIGNAL_FFT_H
#define JOIST_CORE_OPS_SIGNAL_FFT_H

/* Frees them. Nothing may be running. */
void joist_fft_forget(void);

#endif
