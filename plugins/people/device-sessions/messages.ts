/** Texts of the mail in five languages. */
import type { Messages } from 'authkernel/kernel'

const en = {
  'device-sessions.mail.subject': 'New sign-in at {site}',
  'device-sessions.mail.text': 'There was a sign-in to your account on a browser that we did not know. Time: {at}.',
  'device-sessions.mail.browser': 'Browser: {browser}',
  'device-sessions.mail.address': 'Address: {address}',
  'device-sessions.mail.open': 'See your sessions',
  'device-sessions.mail.not-you': 'If this was not you, end the session there and change how you sign in.',
}
type Keys = Record<keyof typeof en, string>
const de: Keys = {
  'device-sessions.mail.subject': 'Neue Anmeldung bei {site}',
  'device-sessions.mail.text': 'Bei Ihrem Konto gab es eine Anmeldung in einem Browser, den wir nicht kannten. Zeit: {at}.',
  'device-sessions.mail.browser': 'Browser: {browser}',
  'device-sessions.mail.address': 'Adresse: {address}',
  'device-sessions.mail.open': 'Ihre Sitzungen ansehen',
  'device-sessions.mail.not-you': 'Wenn Sie das nicht waren, beenden Sie die Sitzung dort und ändern Sie Ihre Anmeldung.',
}
const fr: Keys = {
  'device-sessions.mail.subject': 'Nouvelle connexion à {site}',
  'device-sessions.mail.text': 'Quelqu’un s’est connecté à votre compte depuis un navigateur inconnu. Heure : {at}.',
  'device-sessions.mail.browser': 'Navigateur : {browser}',
  'device-sessions.mail.address': 'Adresse : {address}',
  'device-sessions.mail.open': 'Voir vos sessions',
  'device-sessions.mail.not-you': 'Si ce n’était pas vous, fermez cette session et changez votre mode de connexion.',
}
const es: Keys = {
  'device-sessions.mail.subject': 'Nuevo inicio de sesión en {site}',
  'device-sessions.mail.text': 'Alguien inició sesión con su cuenta en un navegador que no conocíamos. Hora: {at}.',
  'device-sessions.mail.browser': 'Navegador: {browser}',
  'device-sessions.mail.address': 'Dirección: {address}',
  'device-sessions.mail.open': 'Ver sus sesiones',
  'device-sessions.mail.not-you': 'Si no fue usted, cierre esa sesión y cambie su forma de iniciar sesión.',
}
const ja: Keys = {
  'device-sessions.mail.subject': '{site} への新しいサインイン',
  'device-sessions.mail.text': '初めてのブラウザーからあなたのアカウントへのサインインがありました。日時: {at}',
  'device-sessions.mail.browser': 'ブラウザー: {browser}',
  'device-sessions.mail.address': 'アドレス: {address}',
  'device-sessions.mail.open': 'セッションを確認',
  'device-sessions.mail.not-you': '心当たりがない場合は、そのセッションを終了し、サインイン方法を変更してください。',
}
export const messages: Messages = { en, de, fr, es, ja }
