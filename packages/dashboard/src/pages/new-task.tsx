export function NewTaskPage() {
  return null;
}
