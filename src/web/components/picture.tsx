import { Avatar, type AvatarProps } from '@mantine/core';
import { getInitials } from './initials.ts';
import { Name } from './name.tsx';
import { getTint } from './tint.ts';

/** The name beside it says the same, so screen readers skip the picture. */
type PictureProps = Pick<AvatarProps, 'size' | 'className'> & {
  readonly name: string;
  readonly src?: string | null;
  /** The id, which decides the color of the initials. */
  readonly seed: string;
};

/**
 * Returns the path of a picture of the service itself. Others are not loaded, because their servers would learn who
 * reads what. The host is not compared, so that pictures stay visible after a change of it.
 */
const ownPath = (src: string | null | undefined): string | null =>
  /^https?:\/\/[^/?#]+(\/pictures\/[\w-]{43}\.webp)$/.exec(src ?? '')?.[1] ?? null;

/** The picture of a person, or their initials. */
export const PersonPicture = ({ src, seed, name, ...props }: PictureProps) => (
  <Avatar {...props} src={ownPath(src)} mod={{ tint: getTint(seed) }} radius="xl" aria-hidden>
    <Name>{getInitials(name)}</Name>
  </Avatar>
);

/** The picture of a team, or its initials. */
export const TeamPicture = ({ src, seed, name, ...props }: PictureProps) => (
  <Avatar {...props} src={ownPath(src)} mod={{ tint: getTint(seed), filled: true }} radius="md" aria-hidden>
    <Name>{getInitials(name)}</Name>
  </Avatar>
);
