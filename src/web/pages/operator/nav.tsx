import { linkOptions } from '@tanstack/react-router';
import { TextLink } from '../../components/links.tsx';
import { areaTexts } from '../../messages/operator-area.ts';

const words = areaTexts.pages;

const PAGES = linkOptions([
  { to: '/operator', label: words.overview, activeOptions: { exact: true } },
  { to: '/operator/accounts', label: words.accounts },
  { to: '/operator/teams', label: words.teams },
  { to: '/operator/keys', label: words.keys },
  { to: '/operator/clients', label: words.clients },
  { to: '/operator/permissions', label: words.permissions },
  { to: '/operator/jobs', label: words.jobs },
  { to: '/operator/audit', label: words.audit },
  { to: '/operator/webhooks', label: words.webhooks },
]);

/** The pages of the operator's area. */
export const OperatorNav = () => (
  <nav aria-label={areaTexts.navigation} className="operator-nav">
    {PAGES.map(({ label, ...link }) => (
      <TextLink key={link.to} {...link} preload={false}>
        {label}
      </TextLink>
    ))}
  </nav>
);
