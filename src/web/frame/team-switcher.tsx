import { useTeams } from '#client/react';
import { Combobox, Text, UnstyledButton, useCombobox, type ComboboxStore } from '@mantine/core';
import { useState } from 'react';
import { followActiveOption, useFirstOption } from '../components/active-option.ts';
import { getTeamName } from '../components/display-name.ts';
import { Check, Plus, Selector, Teams } from '../components/icons.tsx';
import { TeamPicture } from '../components/picture.tsx';
import { frameTexts as words } from '../messages/frame.ts';
import { findClosest } from './closest.ts';
import { useCurrentTeam } from './current-team.ts';
import { useFrameDialogs } from '../components/frame-dialogs.ts';
import { useTeamOpener } from './team-opener.ts';
import { getRoleLabel } from '../components/role-label.ts';
import { Name } from '../components/name.tsx';

/** No slug has an underscore. */
const CREATE = 'create_team';

/** The team of the page. Opens a list of the user’s teams, with a search. */
export function TeamSwitcher() {
  const current = useCurrentTeam();
  const openDialog = useFrameDialogs();
  const openTeam = useTeamOpener();
  const [sought, setSought] = useState('');
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption();
      setSought('');
    },
    onDropdownOpen: () => combobox.focusSearchInput(),
  });
  const choose = (value: string) => {
    combobox.closeDropdown();
    combobox.focusTarget();
    if (value === CREATE) openDialog('createTeam');
    else openTeam(value);
  };
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={choose}
      withinPortal={false}
      position="bottom-start"
      shadow="md"
      // Locking or transitions would add style elements, which the Content-Security-Policy blocks.
      transitionProps={{ duration: 0 }}
    >
      <Combobox.Target targetType="button" withExpandedAttribute>
        <UnstyledButton
          className="team-switcher"
          aria-label={current === undefined ? words.chooseTeam : words.teamOf(getTeamName(current.team))}
          onClick={() => combobox.toggleDropdown()}
        >
          <Current team={current?.team} />
          <Selector size={18} />
        </UnstyledButton>
      </Combobox.Target>
      <Combobox.Dropdown ref={followActiveOption} className="team-switcher-list">
        <Combobox.Search
          value={sought}
          onChange={(event) => setSought(event.currentTarget.value)}
          placeholder={words.findTeam}
          aria-label={words.findTeam}
        />
        {combobox.dropdownOpened && <TeamOptions store={combobox} sought={sought} currentId={current?.team.id} />}
      </Combobox.Dropdown>
    </Combobox>
  );
}

type CurrentProps = {
  readonly team: { id: string; name: string; avatarUrl: string | null; role: { name: string } } | undefined;
};

const Current = ({ team }: CurrentProps) =>
  team === undefined ? (
    <>
      <span className="team-switcher-none">
        <Teams size={18} />
      </span>
      <span className="team-switcher-text">{words.chooseTeam}</span>
    </>
  ) : (
    <>
      <TeamPicture name={team.name} src={team.avatarUrl} seed={team.id} size={32} />
      <span className="team-switcher-text">
        <Name className="team-switcher-name">{getTeamName(team)}</Name>
        <Name className="team-switcher-role">{getRoleLabel(team.role.name)}</Name>
      </span>
    </>
  );

type TeamOptionsProps = {
  readonly store: ComboboxStore;
  readonly sought: string;
  readonly currentId: string | undefined;
};

function TeamOptions({ store, sought, currentId }: TeamOptionsProps) {
  const { data: teams = [] } = useTeams();
  const { shown, count } = findClosest(teams, sought, ({ name, slug }) => [getTeamName({ name }), slug]);
  useFirstOption(store, sought, count);
  return (
    <>
      <Text role="status" size="xs" c="dimmed" className="team-switcher-status">
        {count === 0 && sought.trim() !== '' && words.noTeam}
        {shown.length < count && words.more({ shown: shown.length, count })}
      </Text>
      <Combobox.Options aria-label={words.teams}>
        <div className="team-switcher-options">
          {shown.map(({ id, slug, name, avatarUrl }) => (
            <Combobox.Option key={id} value={slug} active={id === currentId}>
              <TeamPicture name={name} src={avatarUrl} seed={id} size="sm" />
              <Name className="team-switcher-name">{getTeamName({ name })}</Name>
              {id === currentId && <Check size={16} />}
            </Combobox.Option>
          ))}
        </div>
        <Combobox.Option value={CREATE} className="team-switcher-create">
          <Plus size={18} />
          {words.createTeam}
        </Combobox.Option>
      </Combobox.Options>
    </>
  );
}
