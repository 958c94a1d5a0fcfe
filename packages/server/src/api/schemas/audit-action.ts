export const AUDIT_ACTION_PATTERN = "^[a-z_]{1,50}\\.[a-z_]{1,50}$";
