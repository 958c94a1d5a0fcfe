import { zoneOf } from "../data/format.ts";
import { useNow } from "../data/now.ts";

/** The zone of every time on the page. The offset is that of now: it changes twice a year. */
export function TimeZone() {
  const { name, offset } = zoneOf(new Date(useNow()));
  return (
    <span className="zone" title={`Times are shown in ${name} (${offset}); hover over one for UTC`}>
      {offset}
    </span>
  );
}
