/** Texts of the page that asks before an app gets in, in six languages. */
import type { Messages } from 'authkernel/kernel'

export const messages: Messages = {
  en: {
    'bearer.return': 'Back to the app',
    'bearer.continue': 'Continue',
    'bearer.title': 'Sign in to {app}?',
    'bearer.lead': 'You are signed in as {who}.',
    'bearer.scopes': 'The app asks for:',
    'bearer.warning': 'Continue only if you have just started the sign-in in the app {app} on this device.',
    'bearer.allow': 'Continue',
    'bearer.deny': 'Cancel',
    'error.AppRequestRefused': 'The app sent you here with a wrong address. Go back to the app and try again.',
  },
  de: {
    'bearer.return': 'Zurück zur App',
    'bearer.continue': 'Weiter',
    'bearer.title': 'Bei {app} anmelden?',
    'bearer.lead': 'Sie sind als {who} angemeldet.',
    'bearer.scopes': 'Die App möchte:',
    'bearer.warning': 'Fahren Sie nur fort, wenn Sie die Anmeldung gerade selbst in der App {app} auf diesem Gerät begonnen haben.',
    'bearer.allow': 'Weiter',
    'bearer.deny': 'Abbrechen',
    'error.AppRequestRefused':
      'Die App hat Sie mit einer falschen Adresse hierher geschickt. Gehen Sie zur App zurück und versuchen Sie es erneut.',
  },
  fr: {
    'bearer.return': 'Retour à l’application',
    'bearer.continue': 'Continuer',
    'bearer.title': 'Se connecter à {app} ?',
    'bearer.lead': 'Vous êtes connecté en tant que {who}.',
    'bearer.scopes': 'L’application demande :',
    'bearer.warning': 'Continuez seulement si vous venez de commencer la connexion dans l’application {app} sur cet appareil.',
    'bearer.allow': 'Continuer',
    'bearer.deny': 'Annuler',
    'error.AppRequestRefused': 'L’application vous a envoyé ici avec une adresse incorrecte. Revenez à l’application et réessayez.',
  },
  es: {
    'bearer.return': 'Volver a la aplicación',
    'bearer.continue': 'Continuar',
    'bearer.title': '¿Iniciar sesión en {app}?',
    'bearer.lead': 'Ha iniciado sesión como {who}.',
    'bearer.scopes': 'La aplicación solicita:',
    'bearer.warning': 'Continúe solo si acaba de iniciar la sesión en la aplicación {app} en este dispositivo.',
    'bearer.allow': 'Continuar',
    'bearer.deny': 'Cancelar',
    'error.AppRequestRefused':
      'La aplicación le ha enviado aquí con una dirección incorrecta. Vuelva a la aplicación e inténtelo de nuevo.',
  },
  ja: {
    'bearer.return': 'アプリに戻ります',
    'bearer.continue': '続ける',
    'bearer.title': '{app} にログインしますか？',
    'bearer.lead': '{who} としてログインしています。',
    'bearer.scopes': 'アプリが求めている権限:',
    'bearer.warning': 'このデバイスのアプリ {app} でログインを始めたばかりの場合にだけ続けてください。',
    'bearer.allow': '続ける',
    'bearer.deny': 'キャンセル',
    'error.AppRequestRefused': 'アプリから渡されたアドレスが正しくありません。アプリに戻って、もう一度お試しください。',
  },
}
