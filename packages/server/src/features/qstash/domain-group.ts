/** Each message to a group becomes so many tasks. */
export const MOST_ENDPOINTS = 100;
