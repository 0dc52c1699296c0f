import { describe } from 'vitest';
import { LANGUAGES, type Language } from '../../src/messages/languages.ts';
import { createWorld } from '../web/scenes/world.ts';
import { takePictures, test } from './stage.ts';

describe('pictures of every page in every language', () => {
  test.for(Object.keys(LANGUAGES) as Language[])('%s', { timeout: 900_000 }, async (language, { stage }) => {
    for (const { name, path, as } of await createWorld(stage.api)) {
      const page = await stage.open(path, as, language);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await takePictures(page, `${language}-page-${name}`);
      await page.context().close();
    }
  });
});
