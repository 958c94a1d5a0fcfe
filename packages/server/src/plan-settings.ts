import { isWrong, type OwnLimits, type PlanLimits, parseLimits } from "./domain/limits.ts";
import { SETTINGS, type Setting } from "./settings.ts";

/** The operator's limits per plan; `refuse` is called for invalid values. */
export function readPlanLimits(
  text: (setting: Setting) => string | null,
  refuse: (message: string) => never,
): PlanLimits {
  const read = (setting: Setting): OwnLimits => {
    const limits = parseLimits(text(setting) ?? "");
    return isWrong(limits) ? refuse(`${setting.name} ${limits.wrong}`) : limits;
  };
  return {
    free: read(SETTINGS.planFree),
    pro: read(SETTINGS.planPro),
    enterprise: read(SETTINGS.planEnterprise),
  };
}
