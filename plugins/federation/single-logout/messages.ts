/** Words of the page between the sign-out here and the one at the provider. */
import type { Messages } from 'authkernel/kernel'

export const messages: Messages = {
  en: {
    'single-logout.title': 'Signing out',
    'single-logout.lead': 'You are signed out here. One more step signs you out at your sign-in provider.',
    'single-logout.continue': 'Continue',
  },
  de: {
    'single-logout.title': 'Abmeldung',
    'single-logout.lead': 'Hier sind Sie abgemeldet. Ein weiterer Schritt meldet Sie bei Ihrem Anmeldedienst ab.',
    'single-logout.continue': 'Weiter',
  },
  es: {
    'single-logout.title': 'Cerrando la sesión',
    'single-logout.lead': 'Su sesión aquí está cerrada. Un paso más la cierra en su proveedor de acceso.',
    'single-logout.continue': 'Continuar',
  },
  fr: {
    'single-logout.title': 'Déconnexion',
    'single-logout.lead': 'Vous êtes déconnecté ici. Une étape de plus vous déconnecte de votre fournisseur de connexion.',
    'single-logout.continue': 'Continuer',
  },
  ja: {
    'single-logout.title': 'サインアウトしています',
    'single-logout.lead': 'このサイトからはサインアウトしました。続けて、サインインに使ったサービスからもサインアウトします。',
    'single-logout.continue': '続ける',
  },
}
