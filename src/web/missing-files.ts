import type { Language } from '../messages/languages.ts';
import { isLoadError } from './load-error.ts';

type Texts = { readonly title: string; readonly detail: string; readonly reload: string };

// Not in the files of texts, because one of them can be what is missing.
const TEXTS: Readonly<Record<Language, Texts>> = {
  en: {
    title: 'This page could not be loaded',
    detail: 'The service may have been updated. Reload the page. If that does not help, try again in a few minutes.',
    reload: 'Reload',
  },
  de: {
    title: 'Diese Seite konnte nicht geladen werden',
    detail:
      'Möglicherweise wurde der Dienst aktualisiert. Laden Sie die Seite neu. Wenn das nicht hilft, versuchen Sie es in einigen Minuten erneut.',
    reload: 'Neu laden',
  },
  fr: {
    title: 'Cette page n’a pas pu être chargée',
    detail:
      'Le service a peut-être été mis à jour. Rechargez la page. Si le problème persiste, réessayez dans quelques minutes.',
    reload: 'Recharger',
  },
  es: {
    title: 'No se ha podido cargar esta página',
    detail:
      'Es posible que el servicio se haya actualizado. Vuelva a cargar la página. Si no funciona, inténtelo de nuevo en unos minutos.',
    reload: 'Volver a cargar',
  },
  'pt-BR': {
    title: 'Não foi possível carregar esta página',
    detail:
      'O serviço pode ter sido atualizado. Recarregue a página. Se isso não ajudar, tente novamente em alguns minutos.',
    reload: 'Recarregar',
  },
  ja: {
    title: 'このページを読み込めませんでした',
    detail:
      'サービスが更新された可能性があります。ページを再読み込みしてください。解決しない場合は、数分後にもう一度お試しください。',
    reload: '再読み込み',
  },
  ar: {
    title: 'تعذّر تحميل هذه الصفحة',
    detail: 'ربما جرى تحديث الخدمة. أعد تحميل الصفحة. إذا لم يُجدِ ذلك، فأعد المحاولة بعد بضع دقائق.',
    reload: 'إعادة التحميل',
  },
};

/**
 * Handles that a file without which the page stays empty cannot be loaded, such as from a replica of another version:
 * reloads once, then says so. The console itself handles files that it loads later.
 */
export function watchMissingFiles(language: Language): void {
  const onError = (event: Event) => {
    const root = document.getElementById('root');
    if (root?.hasChildNodes() || !isOfMissingFile(event)) return;
    event.preventDefault(); // handled
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]; // as named
    if (navigator.onLine && navigation?.type !== 'reload') location.reload();
    else root?.append(createMessage(TEXTS[language]));
  };
  // Errors of elements do not bubble.
  addEventListener('error', onError, true);
  addEventListener('unhandledrejection', onError);
}

function isOfMissingFile(event: Event): boolean {
  if (event.target instanceof HTMLScriptElement) return event.target.src.startsWith(location.origin);
  return isLoadError(event instanceof PromiseRejectionEvent ? event.reason : (event as Partial<ErrorEvent>).error);
}

function createMessage({ title, detail, reload }: Texts): HTMLElement {
  const message = document.createElement('main');
  message.className = 'missing-files';
  message.setAttribute('role', 'alert');
  const heading = document.createElement('h1');
  heading.textContent = title;
  const text = document.createElement('p');
  text.textContent = detail;
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = reload;
  button.addEventListener('click', () => location.reload());
  message.append(heading, text, button);
  return message;
}
