import { Menu, UnstyledButton, useMantineColorScheme, VisuallyHidden, type MantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { getDisplayName } from '../components/display-name.ts';
import { Moon, Sun } from '../components/icon.tsx';
import { Person, SignOutIcon, SunMoon } from '../components/icons.tsx';
import { PersonPicture } from '../components/picture.tsx';
import { frameTexts } from '../messages/frame.ts';
import { useSignOut } from '../components/sign-out.ts';
import { me } from '../session.ts';
import { Name } from '../components/name.tsx';

const words = frameTexts.user;

const SCHEMES = [
  ['light', Sun],
  ['dark', Moon],
  ['auto', SunMoon],
] as const satisfies readonly (readonly [MantineColorScheme, unknown])[];

/** Who is signed in, with the account, the colors and the sign-out. */
export function UserMenu() {
  const { data: person } = useQuery(me());
  const signOut = useSignOut();
  // Disabling transitions would add a style element.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  if (person === undefined) return null; // the route has loaded it
  const name = getDisplayName(person, person.id);
  return (
    <Menu
      position="top-start"
      withinPortal={false}
      width={232}
      shadow="md"
      withInitialFocusPlaceholder={false}
      transitionProps={{ duration: 0 }}
    >
      <Menu.Target>
        <UnstyledButton className="user-button">
          <VisuallyHidden>{words.menu} </VisuallyHidden>
          <PersonPicture name={name} src={person.avatar} seed={person.id} size={32} />
          <span className="user-button-text">
            <Name className="user-button-name">{name}</Name>
            {person.email !== null && person.email !== name && (
              <Name className="user-button-email">{person.email}</Name>
            )}
          </span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown aria-label={words.menu}>
        <Menu.Item component={Link} to="/account" leftSection={<Person size={18} />}>
          {words.account}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>{words.colors}</Menu.Label>
        <Menu.RadioGroup value={colorScheme} onChange={(scheme) => setColorScheme(scheme as MantineColorScheme)}>
          {SCHEMES.map(([scheme, Icon]) => (
            <Menu.RadioItem key={scheme} value={scheme} closeMenuOnClick={false} rightSection={<Icon size={18} />}>
              {words[scheme]}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item
          leftSection={<SignOutIcon size={18} />}
          closeMenuOnClick={false}
          disabled={signOut.isPending}
          onClick={() => signOut.submit()}
        >
          {words.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
