/** Texts of the mails in five languages. */
import type { Messages } from 'authkernel/kernel'

const en = {
  'two-factor.mail.code': 'Your code for {site}',
  'two-factor.mail.code-lead': 'Type this code on the page that asked for it.',
  'two-factor.mail.left': 'It is valid for {left}.',
  'two-factor.mail.never-tell': 'Never tell this code to anybody, not even to us.',
  'two-factor.mail.added': 'A second step was set up at {site}',
  'two-factor.mail.added-text': 'It was set up at {at}.',
  'two-factor.mail.changed': 'Your second step at {site} was changed',
  'two-factor.mail.changed-text': 'It was changed at {at}.',
  'two-factor.mail.removed': 'A second step was removed at {site}',
  'two-factor.mail.removed-text': 'It was removed at {at}.',
  'two-factor.mail.few-codes': 'Few backup codes are left at {site}',
  'two-factor.mail.few-codes-text': 'A backup code was used at {at}. Codes left: {left}.',
  'two-factor.mail.not-you': 'If this was not you, change your password and write to us.',
}
type Keys = Record<keyof typeof en, string>

const de: Keys = {
  'two-factor.mail.code': 'Ihr Code für {site}',
  'two-factor.mail.code-lead': 'Geben Sie diesen Code auf der Seite ein, die danach fragt.',
  'two-factor.mail.left': 'Gültigkeit: {left}.',
  'two-factor.mail.never-tell': 'Sagen Sie diesen Code niemandem, auch uns nicht.',
  'two-factor.mail.added': 'Zweiter Schritt bei {site} eingerichtet',
  'two-factor.mail.added-text': 'Zeitpunkt: {at}.',
  'two-factor.mail.changed': 'Zweiter Schritt bei {site} geändert',
  'two-factor.mail.changed-text': 'Zeitpunkt: {at}.',
  'two-factor.mail.removed': 'Zweiter Schritt bei {site} entfernt',
  'two-factor.mail.removed-text': 'Zeitpunkt: {at}.',
  'two-factor.mail.few-codes': 'Wenige Ersatzcodes übrig bei {site}',
  'two-factor.mail.few-codes-text': 'Ein Ersatzcode wurde benutzt: {at}. Übrig: {left}.',
  'two-factor.mail.not-you': 'Waren Sie das nicht, dann ändern Sie Ihr Passwort und schreiben Sie uns.',
}
const fr: Keys = {
  'two-factor.mail.code': 'Votre code pour {site}',
  'two-factor.mail.code-lead': 'Saisissez ce code sur la page qui l’a demandé.',
  'two-factor.mail.left': 'Durée de validité : {left}.',
  'two-factor.mail.never-tell': 'Ne donnez ce code à personne, pas même à nous.',
  'two-factor.mail.added': 'Deuxième étape configurée sur {site}',
  'two-factor.mail.added-text': 'Date : {at}.',
  'two-factor.mail.changed': 'Deuxième étape modifiée sur {site}',
  'two-factor.mail.changed-text': 'Date : {at}.',
  'two-factor.mail.removed': 'Deuxième étape supprimée sur {site}',
  'two-factor.mail.removed-text': 'Date : {at}.',
  'two-factor.mail.few-codes': 'Il reste peu de codes de secours sur {site}',
  'two-factor.mail.few-codes-text': 'Un code de secours a été utilisé : {at}. Codes restants : {left}.',
  'two-factor.mail.not-you': 'Si ce n’était pas vous, changez votre mot de passe et écrivez-nous.',
}
const es: Keys = {
  'two-factor.mail.code': 'Su código para {site}',
  'two-factor.mail.code-lead': 'Escriba este código en la página que lo pidió.',
  'two-factor.mail.left': 'Validez: {left}.',
  'two-factor.mail.never-tell': 'No diga este código a nadie, tampoco a nosotros.',
  'two-factor.mail.added': 'Se configuró un segundo paso en {site}',
  'two-factor.mail.added-text': 'Fecha: {at}.',
  'two-factor.mail.changed': 'Se cambió su segundo paso en {site}',
  'two-factor.mail.changed-text': 'Fecha: {at}.',
  'two-factor.mail.removed': 'Se quitó un segundo paso en {site}',
  'two-factor.mail.removed-text': 'Fecha: {at}.',
  'two-factor.mail.few-codes': 'Quedan pocos códigos de respaldo en {site}',
  'two-factor.mail.few-codes-text': 'Se usó un código de respaldo: {at}. Códigos restantes: {left}.',
  'two-factor.mail.not-you': 'Si no fue usted, cambie su contraseña y escríbanos.',
}
const ja: Keys = {
  'two-factor.mail.code': '{site} のコード',
  'two-factor.mail.code-lead': 'コードを求めたページに、このコードを入力してください。',
  'two-factor.mail.left': '有効期間は{left}です。',
  'two-factor.mail.never-tell': 'このコードは誰にも教えないでください。当社にも不要です。',
  'two-factor.mail.added': '{site} で2段階目が設定されました',
  'two-factor.mail.added-text': '日時: {at}',
  'two-factor.mail.changed': '{site} の2段階目が変更されました',
  'two-factor.mail.changed-text': '日時: {at}',
  'two-factor.mail.removed': '{site} の2段階目が削除されました',
  'two-factor.mail.removed-text': '日時: {at}',
  'two-factor.mail.few-codes': '{site} のバックアップコードが残りわずかです',
  'two-factor.mail.few-codes-text': 'バックアップコードが使われました: {at}。残り: {left}',
  'two-factor.mail.not-you': '心当たりがない場合は、パスワードを変更し、ご連絡ください。',
}
export const mailMessages: Messages = { en, de, fr, es, ja }
