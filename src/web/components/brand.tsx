import { ActionIcon, Anchor, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useColorScheme } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { BRAND } from '../brand.ts';
import { Mark, Moon, Sun } from './icon.tsx';
import { texts } from '../messages/console.ts';

export const SkipLink = () => (
  <a href="#content" className="skip-link">
    {texts.skipToContent}
  </a>
);

export const Brand = () => (
  <Anchor component={Link} to="/" className="brand" underline="never">
    {BRAND.logo === null ? <Mark /> : <img src={BRAND.logo} alt="" width={28} height={28} className="brand-logo" />}
    <span>{BRAND.name}</span>
  </Anchor>
);

/** Switches between light and dark. Choosing the system’s scheme follows the system again. */
export function ColorSchemeToggle() {
  // Disabling transitions would add a style element.
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const current = useComputedColorScheme('light');
  const system = useColorScheme();
  const other = current === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={texts.header[other]}
      onClick={() => setColorScheme(other === system ? 'auto' : other)}
    >
      {current === 'dark' ? <Sun /> : <Moon />}
    </ActionIcon>
  );
}
