import { Menu } from "@mantine/core";
import { type ColorScheme, colorScheme } from "../color-scheme.ts";
import { endSession, switchTeam, useSession } from "../data/session.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { tellProblem } from "../parts/toast.tsx";

const SCHEMES: readonly [ColorScheme, string, IconName][] = [
  ["light", "Light", "sun"],
  ["dark", "Dark", "moon"],
  ["auto", "As the system", "screen"],
];

/** Team, person and looks: at the foot of the navigation. */
export function Person({ onShortcuts }: { readonly onShortcuts: () => void }) {
  const session = useSession();
  const chosen = colorScheme.use();
  if (!session) return null;
  const others = session.teams.filter((team) => team.id !== session.team.id);
  return (
    <Menu width={220} position="top-start">
      <Menu.Target>
        <button type="button" className="person" title="Team, theme and sign out">
          <span>
            <span className="clip" style={{ display: "block", fontWeight: 600 }}>
              {session.team.name}
            </span>
            <span className="clip small muted" style={{ display: "block" }}>
              {session.person?.email ?? session.role}
            </span>
          </span>
          <Icon name="down" size={14} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {others.length === 0 ? null : <Menu.Label>Switch team</Menu.Label>}
        {others.map((team) => (
          <Menu.Item key={team.id} onClick={() => switchTeam(team.id).catch(tellProblem)}>
            {team.name}
          </Menu.Item>
        ))}
        <Menu.Label>Theme</Menu.Label>
        {SCHEMES.map(([scheme, title, icon]) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon name={icon} />}
            rightSection={chosen === scheme ? <Icon name="check" size={14} /> : null}
            onClick={() => colorScheme.set(scheme)}
          >
            {title}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="keyboard" />} onClick={onShortcuts}>
          Keyboard
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="audit" />} component="a" href="/help/">
          Documentation
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="audit" />} component="a" href="/docs">
          API reference
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="leave" />} onClick={() => endSession().catch(tellProblem)}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
