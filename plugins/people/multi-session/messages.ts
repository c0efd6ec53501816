/** Texts of the page in five languages. */
import type { Messages } from 'authkernel/kernel'

const en = {
  'multi-session.title': 'Accounts in this browser',
  'multi-session.open': 'Switch account',
  'multi-session.back': 'Back to your accounts',
  'multi-session.current': 'used now',
  'multi-session.use': 'Use this account',
  'multi-session.add': 'Add an account',
  'multi-session.sign-out': 'Sign out',
  'multi-session.all': 'Sign out of all',
  'multi-session.keep': 'Continue with this account',
  'error.AccountGone': 'This account is signed out. Sign in again.',
  'error.TooManyAccounts': 'This browser has as many accounts as it can. Sign out of one first.',
}
type Keys = Record<keyof typeof en, string>
const de: Keys = {
  'multi-session.title': 'Konten in diesem Browser',
  'multi-session.open': 'Konto wechseln',
  'multi-session.back': 'Zurück zu Ihren Konten',
  'multi-session.current': 'gerade benutzt',
  'multi-session.use': 'Dieses Konto benutzen',
  'multi-session.add': 'Konto hinzufügen',
  'multi-session.sign-out': 'Abmelden',
  'multi-session.all': 'Überall abmelden',
  'multi-session.keep': 'Mit diesem Konto weiter',
  'error.AccountGone': 'Dieses Konto ist abgemeldet. Melden Sie sich neu an.',
  'error.TooManyAccounts': 'Mehr Konten sind in diesem Browser nicht möglich. Melden Sie zuerst eines ab.',
}
const fr: Keys = {
  'multi-session.title': 'Comptes dans ce navigateur',
  'multi-session.open': 'Changer de compte',
  'multi-session.back': 'Retour à vos comptes',
  'multi-session.current': 'utilisé en ce moment',
  'multi-session.use': 'Utiliser ce compte',
  'multi-session.add': 'Ajouter un compte',
  'multi-session.sign-out': 'Se déconnecter',
  'multi-session.all': 'Tout déconnecter',
  'multi-session.keep': 'Continuer avec ce compte',
  'error.AccountGone': 'Ce compte est déconnecté. Reconnectez-vous.',
  'error.TooManyAccounts': 'Ce navigateur a le nombre maximal de comptes. Déconnectez-en un d’abord.',
}
const es: Keys = {
  'multi-session.title': 'Cuentas en este navegador',
  'multi-session.open': 'Cambiar de cuenta',
  'multi-session.back': 'Volver a sus cuentas',
  'multi-session.current': 'en uso',
  'multi-session.use': 'Usar esta cuenta',
  'multi-session.add': 'Añadir una cuenta',
  'multi-session.sign-out': 'Cerrar sesión',
  'multi-session.all': 'Cerrar todas las sesiones',
  'multi-session.keep': 'Continuar con esta cuenta',
  'error.AccountGone': 'Esta cuenta cerró la sesión. Iníciela de nuevo.',
  'error.TooManyAccounts': 'Este navegador tiene el máximo de cuentas. Cierre primero una.',
}
const ja: Keys = {
  'multi-session.title': 'このブラウザーのアカウント',
  'multi-session.open': 'アカウントを切り替える',
  'multi-session.back': 'アカウントに戻る',
  'multi-session.current': '使用中',
  'multi-session.use': 'このアカウントを使う',
  'multi-session.add': 'アカウントを追加',
  'multi-session.sign-out': 'サインアウト',
  'multi-session.all': 'すべてサインアウト',
  'multi-session.keep': 'このアカウントで続ける',
  'error.AccountGone': 'このアカウントはサインアウトしています。もう一度サインインしてください。',
  'error.TooManyAccounts': 'これ以上追加できません。先に一つサインアウトしてください。',
}
export const messages: Messages = { en, de, fr, es, ja }
