/** Texts of the banner in five languages. */
import type { Messages } from 'authkernel/kernel'

const en = {
  'impersonation.title': 'You act as another user',
  'impersonation.line': '{admin} acts as {name}.',
  'impersonation.reason': 'Reason: {reason}',
  'impersonation.until': 'It ends at {date}.',
  'impersonation.hint': 'What you do is recorded with your name. Passwords, factors and addresses of {name} cannot be changed meanwhile.',
  'impersonation.stop': 'Stop and return to my account',
}
type Keys = Record<keyof typeof en, string>
const de: Keys = {
  'impersonation.title': 'Sie handeln als jemand anderes',
  'impersonation.line': '{admin} handelt als {name}.',
  'impersonation.reason': 'Grund: {reason}',
  'impersonation.until': 'Ende: {date}',
  'impersonation.hint':
    'Was Sie tun, wird mit Ihrem Namen aufgezeichnet. Passwörter, Faktoren und Adressen von {name} sind solange nicht änderbar.',
  'impersonation.stop': 'Beenden und zu meinem Konto zurück',
}
const fr: Keys = {
  'impersonation.title': 'Vous agissez pour quelqu’un',
  'impersonation.line': '{admin} agit en tant que {name}.',
  'impersonation.reason': 'Motif : {reason}',
  'impersonation.until': 'Fin : {date}',
  'impersonation.hint':
    'Vos actions sont enregistrées à votre nom. Mots de passe, facteurs et adresses de {name} ne peuvent pas être modifiés pendant ce temps.',
  'impersonation.stop': 'Arrêter et revenir à mon compte',
}
const es: Keys = {
  'impersonation.title': 'Actúa como otra persona',
  'impersonation.line': '{admin} actúa como {name}.',
  'impersonation.reason': 'Motivo: {reason}',
  'impersonation.until': 'Termina: {date}',
  'impersonation.hint':
    'Lo que haga se registra con su nombre. Mientras tanto no se pueden cambiar contraseñas, factores ni direcciones de {name}.',
  'impersonation.stop': 'Terminar y volver a mi cuenta',
}
const ja: Keys = {
  'impersonation.title': '代理で操作中',
  'impersonation.line': '{admin} が {name} として操作しています。',
  'impersonation.reason': '理由: {reason}',
  'impersonation.until': '終了: {date}',
  'impersonation.hint': '操作はあなたの名前で記録されます。その間 {name} のパスワード、要素、アドレスは変更できません。',
  'impersonation.stop': '終了して自分のアカウントに戻る',
}
export const messages: Messages = { en, de, fr, es, ja }
