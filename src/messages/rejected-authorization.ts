import type { Language } from './languages.ts';

type Texts = {
  readonly title: string;
  readonly advice: string;
  readonly error: string;
  readonly reason: string;
  /** The link to the console. */
  readonly back: string;
};

/** The page of an authorization request that has no valid redirect URI to send the error to. */
export const REJECTED_AUTHORIZATION: Readonly<Record<Language, Texts>> = {
  en: {
    title: 'The application cannot be connected',
    advice:
      'Its request was rejected. Go back to the application and try again. If the error persists, send these details to its developer:',
    error: 'Error',
    reason: 'Reason',
    back: 'Back to the console',
  },
  de: {
    title: 'Die Anwendung kann nicht verbunden werden',
    advice:
      'Ihre Anfrage wurde abgelehnt. Gehen Sie zurück zur Anwendung, und versuchen Sie es erneut. Wenn der Fehler bestehen bleibt, senden Sie diese Angaben an ihren Entwickler:',
    error: 'Fehler',
    reason: 'Grund',
    back: 'Zurück zur Konsole',
  },
  fr: {
    title: 'L’application ne peut pas être connectée',
    advice:
      'Sa demande a été refusée. Revenez à l’application et réessayez. Si l’erreur persiste, envoyez ces informations à son développeur :',
    error: 'Erreur',
    reason: 'Motif',
    back: 'Retour à la console',
  },
  es: {
    title: 'No se puede conectar la aplicación',
    advice:
      'Su solicitud se ha rechazado. Vuelva a la aplicación e inténtelo de nuevo. Si el error continúa, envíe estos datos a su desarrollador:',
    error: 'Error',
    reason: 'Motivo',
    back: 'Volver a la consola',
  },
  'pt-BR': {
    title: 'Não é possível conectar o aplicativo',
    advice:
      'A solicitação dele foi recusada. Volte ao aplicativo e tente novamente. Se o erro persistir, envie estes detalhes ao desenvolvedor:',
    error: 'Erro',
    reason: 'Motivo',
    back: 'Voltar ao console',
  },
  ja: {
    title: 'アプリケーションを連携できません',
    advice:
      'リクエストが拒否されました。アプリケーションに戻って、もう一度お試しください。エラーが続く場合は、次の情報を開発者に送ってください:',
    error: 'エラー',
    reason: '理由',
    back: 'コンソールに戻る',
  },
  ar: {
    title: 'لا يمكن ربط التطبيق',
    advice: 'رُفض طلبه. ارجع إلى التطبيق وأعد المحاولة. إذا استمر الخطأ، فأرسل هذه التفاصيل إلى مطوّره:',
    error: 'الخطأ',
    reason: 'السبب',
    back: 'العودة إلى لوحة التحكم',
  },
};
