/** Texts that all mails share. */
import type { Messages } from 'authkernel/kernel'

export const messages: Messages = {
  en: { 'mail.buttonHint': 'If the button does not work, open this address in your browser:' },
  de: { 'mail.buttonHint': 'Falls die Schaltfläche nicht funktioniert, öffnen Sie diese Adresse in Ihrem Browser:' },
  fr: { 'mail.buttonHint': 'Si le bouton ne fonctionne pas, ouvrez cette adresse dans votre navigateur :' },
  es: { 'mail.buttonHint': 'Si el botón no funciona, abra esta dirección en su navegador:' },
  ja: { 'mail.buttonHint': 'ボタンが機能しない場合は、次のアドレスをブラウザーで開いてください。' },
}
