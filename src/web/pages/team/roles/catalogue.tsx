import { Code, Text } from '@mantine/core';
import { Section } from '../../../components/section.tsx';
import { permissionTexts } from '../../../messages/permissions.ts';
import { rolesTexts } from '../../../messages/roles.ts';
import { useTeam } from '../team.ts';
import { getRoleName } from './role-name.ts';
import { PERMISSIONS } from './permissions.ts';
import { SEPARATOR } from '../../../messages/language.ts';

const words = rolesTexts.catalogue;

export function Catalogue() {
  const { roles } = useTeam();
  return (
    <Section title={words.title} explanation={words.explanation}>
      <dl className="values">
        {PERMISSIONS.map((permission) => (
          <div key={permission}>
            <dt className="role-permission">
              <Text component="span" size="sm" fw={600} c="var(--mantine-color-text)">
                {permissionTexts[permission]}
              </Text>{' '}
              <Code>{permission}</Code>
            </dt>
            <dd>{words.details[permission]}</dd>
            <Text component="dd" size="sm" c="dimmed">
              {words.heldBy(
                roles
                  .filter(({ permissions }) => permissions.includes(permission))
                  .map(getRoleName)
                  .join(SEPARATOR),
              )}
            </Text>
          </div>
        ))}
      </dl>
    </Section>
  );
}
