/** In a file of its own, because the probe runs in a subject, where nothing else of the bench belongs. */
export const probeSignal = "SIGUSR2";
