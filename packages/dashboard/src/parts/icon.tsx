const PATHS = {
  overview: "M3 12h4l3-8 4 16 3-8h4",
  queues: "M12 3 3 8l9 5 9-5zM3 13l9 5 9-5",
  flows: "M3 5h7l4 7-4 7H3M14 12h7M18 9l3 3-3 3",
  tasks: "M9 6h11M9 12h11M9 18h11M4 6h.01M4 12h.01M4 18h.01",
  failures: "M12 4 2.5 20h19zM12 10v4M12 17h.01",
  plus: "M12 5v14M5 12h14",
  schedules: "M12 7v5l3 2M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0",
  vault: "M6 11h12v9H6zM8 11V8a4 4 0 0 1 8 0v3",
  key: "M14 10l7-7M17 6l2 2M15.5 8.5a5 5 0 1 1-3-3",
  providers: "M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4",
  team: "M15 8a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0M4 20c.6-3.6 3.600-6 7.500-6s6.900 2.400 7.500 6",
  applications: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  audit: "M6 3h9l4 4v14H6zM9 11h7M9 15h7",
  system: "M4 5h16v6H4zM4 13h16v6H4zM8 8h.01M8 16h.01",
  alerts: "M12 8v5M12 16h.01M8 3h8l5 5v8l-5 5H8l-5-5V8z",
  subscriptions: "M6 17V11a6 6 0 0 1 12 0v6zM4 17h16M10 20h4",
  search: "M17 10.500a6.500 6.500 0 1 1-13 0 6.500 6.500 0 0 1 13 0M15.500 15.500 21 21",
  sun: "M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
  moon: "M20 14.500A8.500 8.500 0 1 1 9.500 4a7 7 0 0 0 10.500 10.500",
  screen: "M3 5h18v12H3zM9 21h6M12 17v4",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  check: "M5 12.500 10 17l9-10",
  cross: "M6 6l12 12M18 6 6 18",
  pause: "M8 5v14M16 5v14",
  play: "M7 4.500 19 12 7 19.500z",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  down: "M6 9l6 6 6-6",
  right: "M9 6l6 6-6 6",
  retry: "M4 12a8 8 0 1 0 2.500-5.800M4 4v5h5",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
  leave: "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
  keyboard: "M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M8 14h8",
  send: "M4 12 20 4l-5 16-4-6z",
} as const;

export type IconName = keyof typeof PATHS;

/** Drawn with the colour of the text around it. It says nothing that the text beside it does not say. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "more" || name === "tasks" ? 2.2 : 1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
