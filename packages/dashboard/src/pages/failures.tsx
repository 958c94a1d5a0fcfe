export function Failures() {
  return null;
}
