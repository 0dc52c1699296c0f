import { Button, Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useCallForm } from '../../components/call-form.ts';
import { getDisplayName } from '../../components/display-name.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { PictureField } from '../../components/picture-field.tsx';
import { PersonPicture } from '../../components/picture.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Section } from '../../components/section.tsx';
import { me } from '../../session.ts';
import { accountTexts } from '../../messages/account.ts';
import { texts } from '../../messages/console.ts';
import { pictureTexts } from '../../messages/pictures.ts';
import { trpc, type Outputs } from '../../trpc.ts';

/** Languages that the console and emails have, with regions for dates and numbers. */
const LOCALES = [
  'ar-AE',
  'ar-EG',
  'ar-SA',
  'de-AT',
  'de-CH',
  'de-DE',
  'en-AU',
  'en-CA',
  'en-GB',
  'en-IE',
  'en-IN',
  'en-US',
  'es-ES',
  'es-MX',
  'fr-BE',
  'fr-CA',
  'fr-CH',
  'fr-FR',
  'ja-JP',
  'pt-BR',
  'pt-PT',
];

export function Profile({ account }: { readonly account: Outputs['getMe'] }) {
  const queries = useQueryClient();
  const notify = useNotice();
  const form = useCallForm({
    initialValues: {
      firstName: account.firstName ?? '',
      lastName: account.lastName ?? '',
      preferredLocale: account.preferredLocale ?? '',
    },
    call: ({ firstName, lastName, preferredLocale }) =>
      trpc.account.updateProfile.mutate({
        firstName: firstName.trim() === '' ? null : firstName,
        lastName: lastName.trim() === '' ? null : lastName,
        preferredLocale: preferredLocale === '' ? null : preferredLocale,
      }),
    onSuccess: (changed) => {
      queries.setQueryData(me().queryKey, changed);
      notify(accountTexts.profile.saved);
    },
  });

  const showPicture = (avatar: string | null, notice: string) => {
    queries.setQueryData(me().queryKey, (now) => now && { ...now, avatar });
    notify(notice);
  };

  return (
    <Section anchor="profile" title={accountTexts.profile.title} explanation={accountTexts.profile.explanation}>
      <PictureField
        path="/pictures/me"
        hasPicture={account.avatar !== null}
        onSet={(url) => showPicture(url, pictureTexts.saved)}
        remove={async () => {
          await trpc.account.updateProfile.mutate({ avatar: null });
          showPicture(null, pictureTexts.removed);
        }}
      >
        <PersonPicture name={getDisplayName(account, '')} src={account.avatar} seed={account.id} size={64} />
      </PictureField>
      <form onSubmit={form.submit} noValidate>
        <Stack gap="md">
          {form.failure !== undefined && <FailureAlert failure={form.failure} />}
          <TextInput {...form.field('firstName')} label={texts.optional(texts.firstName)} autoComplete="given-name" />
          <TextInput {...form.field('lastName')} label={texts.optional(texts.lastName)} autoComplete="family-name" />
          <NativeSelect
            {...form.field('preferredLocale')}
            label={accountTexts.profile.locale}
            description={accountTexts.profile.localeHint}
            data={[
              { value: '', label: accountTexts.profile.localeOfBrowser },
              ...localeChoices(account.preferredLocale),
            ]}
          />
          <Group>
            <Button type="submit" loading={form.pending}>
              {texts.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

/** Returns the locales by their own names, including the current one and English as it is written around the user. */
const localeChoices = (current: string | null) =>
  [...new Set([...LOCALES, ...englishOfBrowser(), ...(current === null ? [] : [current])])]
    .sort()
    .map((value) => ({ value, label: getLanguageName(value) }));

/** Returns English with the regions of the browser, because many read it where it is not spoken. */
const englishOfBrowser = (): readonly string[] =>
  navigator.languages.flatMap((tag) => {
    const { region } = new Intl.Locale(tag);
    return region === undefined ? [] : [`en-${region}`];
  });

function getLanguageName(locale: string): string {
  try {
    return new Intl.DisplayNames(locale, { type: 'language' }).of(locale) ?? locale;
  } catch {
    return locale; // not a language tag
  }
}
