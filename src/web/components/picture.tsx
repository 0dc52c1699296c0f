import { Avatar, type AvatarProps } from '@mantine/core';

/** The name beside it says the same, so screen readers skip the picture. */
type PictureProps = Pick<AvatarProps, 'size' | 'className'> & {
  readonly name: string;
  readonly src?: string | null;
};

/** Only pictures of the service itself, because other servers would learn who reads what. */
const ownPath = (src: string | null | undefined): string | null => (src?.startsWith('/pictures/') ? src : null);

/** The picture of a person, or their initials. */
export const PersonPicture = ({ src, ...props }: PictureProps) => (
  <Avatar {...props} src={ownPath(src)} color="blue" radius="xl" aria-hidden />
);

/** The picture of a team, or its initials. */
export const TeamPicture = ({ src, ...props }: PictureProps) => (
  <Avatar {...props} src={ownPath(src)} color="blue" radius="md" aria-hidden />
);
