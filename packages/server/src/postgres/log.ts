export type Log = (event: string, fields: Record<string, unknown>) => void;
