import {
  IconActivity,
  IconAppWindow,
  IconArrowsLeftRight,
  IconBell,
  IconBook,
  IconBuildingCommunity,
  IconCheck,
  IconChevronRight,
  IconCode,
  IconCreditCard,
  IconDeviceLaptop,
  IconDots,
  IconHelpCircle,
  IconHistory,
  IconKey,
  IconKeyboard,
  IconLayoutDashboard,
  IconLogout,
  IconMail,
  IconMailForward,
  IconMenu2,
  IconMoon,
  IconPlus,
  IconSearch,
  IconSelector,
  IconSettings,
  IconShieldCheck,
  IconSun,
  IconSunMoon,
  IconUserCircle,
  IconUserPlus,
  IconUserShield,
  IconUsers,
  IconWebhook,
  type IconProps as TablerProps,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';

type IconProps = { readonly size?: number };

export type Icon = ComponentType<IconProps>;

/** Returns an icon that screen readers skip, because the words beside it say the same. */
function icon(Tabler: ComponentType<TablerProps>, usualSize = 20): Icon {
  const Shown = ({ size = usualSize }: IconProps) => <Tabler size={size} stroke={1.75} aria-hidden="true" />;
  return Shown;
}

export const Activity = icon(IconActivity);
export const App = icon(IconAppWindow);
export const AuditLog = icon(IconHistory);
export const Billing = icon(IconCreditCard);
export const Book = icon(IconBook);
export const Check = icon(IconCheck);
export const ChevronRight = icon(IconChevronRight);
export const Code = icon(IconCode);
export const Device = icon(IconDeviceLaptop);
export const Envelope = icon(IconMail, 28);
export const Help = icon(IconHelpCircle);
export const Invitation = icon(IconMailForward);
export const Bell = icon(IconBell);
export const Key = icon(IconKey);
export const Keyboard = icon(IconKeyboard);
export const Lines = icon(IconMenu2);
export const Moon = icon(IconMoon);
export const More = icon(IconDots);
export const Operator = icon(IconUserShield);
export const Overview = icon(IconLayoutDashboard);
export const People = icon(IconUsers, 28);
export const Person = icon(IconUserCircle);
export const PersonPlus = icon(IconUserPlus);
export const Plus = icon(IconPlus);
export const Roles = icon(IconShieldCheck);
export const Search = icon(IconSearch);
export const Selector = icon(IconSelector);
export const Settings = icon(IconSettings);
export const SignOutIcon = icon(IconLogout);
export const Sun = icon(IconSun);
export const SunMoon = icon(IconSunMoon);
export const Switch = icon(IconArrowsLeftRight);
export const Teams = icon(IconBuildingCommunity);
export const Webhook = icon(IconWebhook);

export const Mark = () => (
  <svg width={28} height={28} viewBox="0 0 32 32" aria-hidden="true" className="mark">
    <rect width="32" height="32" rx="8" />
    <g fill="#fff">
      <circle cx="11" cy="11" r="3" />
      <rect x="17" y="9.5" width="8" height="3" rx="1.5" />
      <circle cx="11" cy="21" r="3" opacity=".75" />
      <rect x="17" y="19.5" width="8" height="3" rx="1.5" opacity=".75" />
    </g>
  </svg>
);
