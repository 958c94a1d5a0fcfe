export function Queues() {
  return null;
}
