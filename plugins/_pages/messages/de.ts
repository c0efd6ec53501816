/** German texts of the pages. */
import type { Texts } from './en.ts'

export const de: Texts = {
  'signIn.title': 'Anmelden',
  'signIn.heading': 'Anmelden',
  'signIn.subtitle': 'um mit {site} fortzufahren',
  'signIn.submit': 'Mit {name} anmelden',
  'signIn.or': 'oder',
  'signIn.empty': 'Hier kann man sich noch nicht anmelden.',
  'signIn.noScript': 'Die Anmeldung mit {name} braucht JavaScript, das in diesem Browser ausgeschaltet ist.',

  'signOut.title': 'Abmelden',
  'signOut.heading': 'Abmelden',
  'signOut.text': 'Möchten Sie sich von {site} abmelden?',
  'signOut.submit': 'Abmelden',
  'signOut.cancel': 'Angemeldet bleiben',

  'verifyRequest.title': 'E-Mail bestätigen',
  'verifyRequest.heading': 'Sehen Sie in Ihr Postfach',
  'verifyRequest.text': 'Wir haben Ihnen einen Link geschickt. Öffnen Sie ihn, um die Anmeldung bei {site} abzuschließen.',
  'verifyRequest.expires': 'Gültigkeit des Links: {duration}.',
  'verifyRequest.hint': 'Nichts angekommen? Sehen Sie im Spam-Ordner nach, oder {again}.',
  'verifyRequest.again': 'versuchen Sie es noch einmal',

  'verifyConfirm.title': 'Anmeldung bestätigen',
  'verifyConfirm.heading': 'Fast geschafft',
  'verifyConfirm.text': 'Sie melden sich bei {site} an als',
  'verifyConfirm.submit': 'Weiter',
  'verifyConfirm.notYou': 'Das waren nicht Sie? Dann schließen Sie diese Seite. Bevor Sie auf „Weiter“ tippen, geschieht nichts.',

  'error.title': 'Fehler',
  'error.signIn': 'Zurück zur Anmeldung',
  'error.code': 'Code: {code}',

  'error.default.heading': 'Etwas ist schiefgegangen',
  'error.default': 'Die Anmeldung ist fehlgeschlagen. Bitte versuchen Sie es noch einmal.',
  'error.Retry': 'Das hat nicht geklappt. Versuchen Sie es noch einmal oder nehmen Sie ein anderes Konto.',
  'error.Configuration.heading': 'Anmeldung derzeit nicht möglich',
  'error.Configuration':
    'Auf unserer Seite stimmt etwas nicht. Bitte versuchen Sie es später noch einmal. Wenn dies Ihre Website ist: Näheres steht im Protokoll des Servers.',
  'error.AccessDenied.heading': 'Kein Zugang',
  'error.AccessDenied': 'Mit diesem Konto dürfen Sie sich hier nicht anmelden. Haben Sie ein anderes, versuchen Sie es damit.',
  'error.Verification.heading': 'Dieser Link gilt nicht mehr',
  'error.Verification': 'Er ist abgelaufen oder wurde schon benutzt. Fordern Sie einen neuen an und öffnen Sie ihn gleich.',
  'error.Unavailable.heading': 'Bitte gleich noch einmal versuchen',
  'error.Unavailable': 'Eines unserer Systeme ist gerade nicht erreichbar. Es ist nichts verloren gegangen.',
  'error.InvalidCheck.heading': 'Diese Anmeldung ist abgelaufen',
  'error.InvalidCheck':
    'Sie hat zu lange gedauert, ist schon abgeschlossen oder wurde in einem anderen Browser begonnen. Bitte beginnen Sie neu.',
  'error.InvalidLink.heading': 'Diese Adresse führt ins Leere',
  'error.InvalidLink': 'Der Link ist unvollständig oder gilt nicht mehr. Bitte beginnen Sie neu.',
  'error.SignOutError.heading': 'Vielleicht sind Sie anderswo noch angemeldet',
  'error.SignOutError':
    'In diesem Browser sind Sie abgemeldet, aber auf dem Server ließ sich die Sitzung nicht beenden. Bitte versuchen Sie es später noch einmal.',
  'error.TooManyRequests.heading': 'Zu viele Versuche',
  'error.TooManyRequests': 'Bitte warten Sie {duration} und versuchen Sie es dann noch einmal.',
  'error.CrossSite.heading': 'Das kam nicht von unserer Seite',
  'error.CrossSite': 'Zu Ihrer Sicherheit haben wir es abgelehnt. Bitte beginnen Sie hier neu.',
  'error.WebAuthnVerificationError.heading': 'Passkey nicht angenommen',
  'error.WebAuthnVerificationError': 'Der Passkey ließ sich nicht prüfen. Versuchen Sie es noch einmal oder melden Sie sich anders an.',
  'error.OAuthSignInError': 'Der gewählte Dienst ist gerade nicht erreichbar. Versuchen Sie es noch einmal oder melden Sie sich anders an.',
  'error.OAuthAccountNotLinked':
    'Zu dieser E-Mail-Adresse gibt es schon ein Konto. Melden Sie sich an wie bisher; danach können Sie weitere Konten verbinden.',
  'error.EmailSignInError': 'Die E-Mail konnte nicht verschickt werden. Prüfen Sie die Adresse und versuchen Sie es noch einmal.',
  'error.CredentialsSignin': 'Das stimmt so nicht. Prüfen Sie Ihre Eingaben und versuchen Sie es noch einmal.',
  'error.SessionRequired': 'Bitte melden Sie sich an, um diese Seite zu sehen.',
  'error.MissingCSRF': 'Diese Seite war zu lange offen, oder Ihr Browser lässt keine Cookies zu. Bitte versuchen Sie es noch einmal.',

  'script.cancelled': 'Abgebrochen, oder es hat zu lange gedauert. Sie können es noch einmal versuchen.',
  'script.failed': 'Das hat nicht geklappt. Bitte versuchen Sie es noch einmal.',
  'script.known': 'Dieses Gerät hat schon einen Passkey für dieses Konto.',
  'script.unsupported': 'Dieser Browser unterstützt keine Passkeys.',

  'text:Email': 'E-Mail',
  'text:Email address': 'E-Mail-Adresse',
  'text:Password': 'Passwort',
  'text:Username': 'Benutzername',
  'text:Name': 'Name',
  'text:Code': 'Code',
  'text:you@example.com': 'name@beispiel.de',
}
