import { Copyable } from '../../../components/copyable.tsx';
import { Section } from '../../../components/section.tsx';
import { settingsTexts } from '../../../messages/settings.ts';
import { useTeam } from '../team.ts';

const words = settingsTexts.identifiers;

export function Identifiers() {
  const { team } = useTeam();
  return (
    <Section title={words.title} explanation={words.explanation}>
      <dl className="values">
        <div>
          <dt>{words.id}</dt>
          <dd>
            <Copyable label={words.id} value={team.id} />
          </dd>
        </div>
        <div>
          <dt>{words.slug}</dt>
          <dd>
            <Copyable label={words.slug} value={team.slug} />
          </dd>
        </div>
      </dl>
    </Section>
  );
}
