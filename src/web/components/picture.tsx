import { Avatar, type AvatarProps } from '@mantine/core';
import { getTint } from './tint.ts';

/** The name beside it says the same, so screen readers skip the picture. */
type PictureProps = Pick<AvatarProps, 'size' | 'className'> & {
  readonly name: string;
  readonly src?: string | null;
  /** The id, which decides the color of the initials; the name by default. */
  readonly seed?: string;
};

/** Only pictures of the service itself, because other servers would learn who reads what. */
const ownPath = (src: string | null | undefined): string | null => (src?.startsWith('/pictures/') ? src : null);

/** The picture of a person, or their initials. */
export const PersonPicture = ({ src, seed, ...props }: PictureProps) => (
  <Avatar {...props} src={ownPath(src)} mod={{ tint: getTint(seed ?? props.name) }} radius="xl" aria-hidden />
);

/** The picture of a team, or its initials. */
export const TeamPicture = ({ src, seed, ...props }: PictureProps) => (
  <Avatar
    {...props}
    src={ownPath(src)}
    mod={{ tint: getTint(seed ?? props.name), filled: true }}
    radius="md"
    aria-hidden
  />
);
