/** The mail after an account was deleted, in five languages. */
import type { Messages } from 'authkernel/kernel'

export const mailMessages: Messages = {
  en: {
    'pages.deleted': 'Your account at {site} was deleted',
    'pages.deleted-text': 'It was deleted at {at}, with everything that belonged to it.',
    'pages.deleted-note': 'If this was not you, write to us.',
  },
  de: {
    'pages.deleted': 'Ihr Konto bei {site} wurde gelöscht',
    'pages.deleted-text': 'Es wurde am {at} gelöscht, mit allem, was dazu gehörte.',
    'pages.deleted-note': 'Waren Sie das nicht, dann schreiben Sie uns.',
  },
  fr: {
    'pages.deleted': 'Votre compte sur {site} a été supprimé',
    'pages.deleted-text': 'Il a été supprimé le {at}, avec tout ce qui lui appartenait.',
    'pages.deleted-note': 'Si ce n’était pas vous, écrivez-nous.',
  },
  es: {
    'pages.deleted': 'Su cuenta en {site} se ha eliminado',
    'pages.deleted-text': 'Se eliminó el {at}, con todo lo que le pertenecía.',
    'pages.deleted-note': 'Si no ha sido usted, escríbanos.',
  },
  ja: {
    'pages.deleted': '{site} のアカウントを削除しました',
    'pages.deleted-text': '{at} に、関連するすべてのデータとともに削除しました。',
    'pages.deleted-note': '心当たりがない場合は、ご連絡ください。',
  },
}
