/** The metrics of one process; null if it did not answer. */
interface Scrape {
  readonly process: string;
  readonly text: string | null;
}

interface Family {
  readonly head: string[];
  readonly samples: string[];
}

/**
 * Merges the texts of several processes. Every sample gets a process label: a sum would drop when a process is
 * replaced, and a rate would read that as a restart of all.
 */
export function mergeScrapes(scrapes: readonly Scrape[]): string {
  const families = new Map<string, Family>();
  for (const { process, text } of scrapes) {
    let family: Family = { head: [], samples: [] };
    for (const line of (text ?? "").split("\n")) {
      const [, , name = ""] = line.split(" ", 3);
      if (line.startsWith("# HELP ")) {
        family = families.get(name) ?? { head: [line], samples: [] };
        families.set(name, family);
      } else if (line.startsWith("# TYPE ")) {
        if (family.head.length === 1) family.head.push(line);
      } else if (line !== "") family.samples.push(labelled(line, process));
    }
  }
  const merged = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples]);
  return `${[...merged, ...upLines(scrapes)].join("\n")}\n`;
}

/** `name 1` and `name{a="b"} 1`, with the process as the first label. */
function labelled(line: string, process: string): string {
  return line.replace(/^([^{\s]+)(\{?)/, (_, name: string, brace: string) =>
    brace === "" ? `${name}{process="${process}"}` : `${name}{process="${process}",`,
  );
}

function upLines(scrapes: readonly Scrape[]): string[] {
  return [
    "# HELP bellhop_process_up 1 if this process of the server has told what it counts, otherwise 0 and that is missing.",
    "# TYPE bellhop_process_up gauge",
    ...scrapes.map(
      ({ process, text }) => `bellhop_process_up{process="${process}"} ${text === null ? 0 : 1}`,
    ),
  ];
}
