import { createSetting } from "./data/store.ts";

export type ColorScheme = "light" | "dark" | "auto";

export const colorScheme = createSetting<ColorScheme>("theme", ["light", "dark", "auto"], "auto");
