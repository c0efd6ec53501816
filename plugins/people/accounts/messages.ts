/** Texts of the section of the account page, in six languages. */
import type { Messages } from 'authkernel/kernel'

export const messages: Messages = {
  en: {
    'accounts.data': 'Your data',
    'accounts.data.text': 'Download everything that is stored about your account, as a file.',
    'accounts.data.download': 'Download',
  },
  de: {
    'accounts.data': 'Ihre Daten',
    'accounts.data.text': 'Laden Sie alles, was zu Ihrem Konto gespeichert ist, als Datei herunter.',
    'accounts.data.download': 'Herunterladen',
  },
  fr: {
    'accounts.data': 'Vos données',
    'accounts.data.text': 'Téléchargez tout ce qui est enregistré sur votre compte, dans un fichier.',
    'accounts.data.download': 'Télécharger',
  },
  es: {
    'accounts.data': 'Sus datos',
    'accounts.data.text': 'Descargue en un archivo todo lo que se guarda sobre su cuenta.',
    'accounts.data.download': 'Descargar',
  },
  ja: {
    'accounts.data': 'あなたのデータ',
    'accounts.data.text': 'アカウントについて保存されているすべての情報をファイルでダウンロードできます。',
    'accounts.data.download': 'ダウンロード',
  },
}
