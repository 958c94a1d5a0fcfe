export const QUEUE_NAME_PATTERN = "^[A-Za-z0-9-]{1,64}$";

const QUEUE_NAME = new RegExp(QUEUE_NAME_PATTERN);

export function isQueueName(text: string): boolean {
  return QUEUE_NAME.test(text);
}
