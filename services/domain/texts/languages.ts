// The sentences of our messages, by language. message-text.ts fills in `{code}`, `{app}` and `{minutes}`.
//
// To add a language, add its BCP 47 tag to
//   1. SENTENCES here;
//   2. CHAT_SENTENCES in languages.chat.ts;
//   3. REFUSAL_SENTENCES in languages.refusals.ts;
//   4. services/channel/providers/whatsapp_cloud.languages.ts, if Meta's code for it is not in the list there. If Meta has no templates in
//      the language, name it in whatsapp_cloud.languages.test.ts instead.
// languages.chat.test.ts, which looks at both files, and whatsapp_cloud.languages.test.ts fail for a language that is
// missing in one of them. A language that is written from right to left is also named in mail-html.test.ts. Everything
// else follows from SENTENCES: the choice of a language, the direction of a mail, the removal of codes from the log.

/** In some languages an app's name would have to be inflected; there it stands before a colon. Minutes are abbreviated
 *  for the same reason. */
export interface Sentences {
  /** The whole SMS, and the subject of a mail. With an app name of 20 characters and a code of 8 digits it has at most 70 characters, so
   *  that it fits one SMS segment in any script; with 10 digits, in most of them. */
  short: string
  /** Left out where it is not known how long the code is valid. */
  valid: string
  /** For a recipient who did not request a code. */
  notRequested: string
}

const traditionalChinese: Sentences = {
  short: '{code} 是您的 {app} 驗證碼。',
  valid: '{minutes} 分鐘內有效。',
  notRequested: '如果您沒有要求此驗證碼，請忽略此訊息。',
}

const norwegian: Sentences = {
  short: '{code} er din bekreftelseskode for {app}.',
  valid: 'Koden er gyldig i {minutes} min.',
  notRequested: 'Hvis du ikke har bedt om den, kan du se bort fra denne meldingen.',
}

/** By BCP 47 tag, in its canonical form. */
export const SENTENCES: Readonly<Record<string, Sentences>> = {
  en: {
    short: '{code} is your {app} verification code.',
    valid: 'It is valid for {minutes} min.',
    notRequested: 'If you did not ask for it, ignore this message.',
  },
  ar: {
    short: '{code} هو رمز التحقق الخاص بك في {app}.',
    valid: 'مدة الصلاحية بالدقائق: {minutes}.',
    notRequested: 'إذا لم تطلب هذا الرمز، فتجاهل هذه الرسالة.',
  },
  bg: {
    short: '{app}: {code} е вашият код за потвърждение.',
    valid: 'Кодът е валиден {minutes} мин.',
    notRequested: 'Ако не сте поискали този код, не обръщайте внимание на това съобщение.',
  },
  bn: {
    short: '{code} আপনার {app} যাচাইকরণ কোড।',
    valid: 'এটি {minutes} মিনিট পর্যন্ত বৈধ।',
    notRequested: 'আপনি এটি না চেয়ে থাকলে এই বার্তাটি উপেক্ষা করুন।',
  },
  ca: {
    short: '{code} és el teu codi de verificació de {app}.',
    valid: 'És vàlid durant {minutes} min.',
    notRequested: 'Si no l’has demanat, ignora aquest missatge.',
  },
  cs: {
    short: '{code} je váš ověřovací kód pro {app}.',
    valid: 'Kód platí {minutes} min.',
    notRequested: 'Pokud jste o něj nežádali, tuto zprávu ignorujte.',
  },
  da: {
    short: '{code} er din bekræftelseskode til {app}.',
    valid: 'Koden er gyldig i {minutes} min.',
    notRequested: 'Hvis du ikke har bedt om den, kan du se bort fra denne besked.',
  },
  de: {
    short: '{code} ist Ihr {app}-Bestätigungscode.',
    valid: 'Er ist {minutes} Min. gültig.',
    notRequested: 'Falls Sie ihn nicht angefordert haben, ignorieren Sie diese Nachricht.',
  },
  el: {
    short: '{app}: {code} είναι ο κωδικός επαλήθευσής σας.',
    valid: 'Ισχύει για {minutes} λεπ.',
    notRequested: 'Αν δεν τον ζητήσατε, αγνοήστε αυτό το μήνυμα.',
  },
  es: {
    short: '{code} es tu código de verificación de {app}.',
    valid: 'Es válido durante {minutes} min.',
    notRequested: 'Si no lo has pedido, ignora este mensaje.',
  },
  et: {
    short: '{code} on sinu {app} kinnituskood.',
    valid: 'Kood kehtib {minutes} min.',
    notRequested: 'Kui sa seda ei küsinud, ära pööra sellele sõnumile tähelepanu.',
  },
  fa: {
    short: '{code} کد تأیید شما برای {app} است.',
    valid: 'این کد {minutes} دقیقه اعتبار دارد.',
    notRequested: 'اگر آن را درخواست نکرده‌اید، این پیام را نادیده بگیرید.',
  },
  fi: {
    short: '{app}: {code} on vahvistuskoodisi.',
    valid: 'Koodi on voimassa {minutes} min.',
    notRequested: 'Jos et pyytänyt sitä, jätä tämä viesti huomiotta.',
  },
  fil: {
    short: '{code} ang iyong verification code para sa {app}.',
    valid: 'May bisa ito sa loob ng {minutes} minuto.',
    notRequested: 'Kung hindi mo ito hiniling, huwag pansinin ang mensaheng ito.',
  },
  fr: {
    short: '{code} est votre code de vérification {app}.',
    valid: 'Il est valable {minutes} min.',
    notRequested: 'Si vous ne l’avez pas demandé, ignorez ce message.',
  },
  he: {
    short: '{code} הוא קוד האימות שלך עבור {app}.',
    valid: 'הקוד תקף ל-{minutes} דק׳.',
    notRequested: 'אם לא ביקשת אותו, אפשר להתעלם מהודעה זו.',
  },
  hi: {
    short: '{code} आपका {app} सत्यापन कोड है।',
    valid: 'यह {minutes} मिनट तक मान्य है।',
    notRequested: 'अगर आपने इसे नहीं माँगा, तो इस संदेश को अनदेखा करें।',
  },
  hr: {
    short: '{app}: {code} je vaš kod za potvrdu.',
    valid: 'Kod vrijedi {minutes} min.',
    notRequested: 'Ako ga niste zatražili, zanemarite ovu poruku.',
  },
  hu: {
    short: '{app}: {code} az Ön ellenőrző kódja.',
    valid: 'A kód {minutes} percig érvényes.',
    notRequested: 'Ha nem Ön kérte, hagyja figyelmen kívül ezt az üzenetet.',
  },
  id: {
    short: '{code} adalah kode verifikasi {app} Anda.',
    valid: 'Kode berlaku selama {minutes} menit.',
    notRequested: 'Jika Anda tidak memintanya, abaikan pesan ini.',
  },
  it: {
    short: '{code} è il tuo codice di verifica {app}.',
    valid: 'È valido per {minutes} min.',
    notRequested: 'Se non l’hai richiesto, ignora questo messaggio.',
  },
  ja: {
    short: '{app}の認証コードは {code} です。',
    valid: '有効期間は{minutes}分です。',
    notRequested: '心当たりがない場合は、このメッセージを無視してください。',
  },
  ko: {
    short: '[{app}] 인증번호는 {code}입니다.',
    valid: '{minutes}분 동안 유효합니다.',
    notRequested: '요청하지 않으셨다면 이 메시지를 무시하세요.',
  },
  lt: {
    short: '{code} yra jūsų {app} patvirtinimo kodas.',
    valid: 'Kodas galioja {minutes} min.',
    notRequested: 'Jei jo neprašėte, nekreipkite dėmesio į šį pranešimą.',
  },
  lv: {
    short: '{code} ir jūsu {app} verifikācijas kods.',
    valid: 'Kods ir derīgs {minutes} min.',
    notRequested: 'Ja jūs to nepieprasījāt, neņemiet vērā šo ziņojumu.',
  },
  ms: {
    short: '{code} ialah kod pengesahan {app} anda.',
    valid: 'Kod ini sah selama {minutes} minit.',
    notRequested: 'Jika anda tidak memintanya, abaikan mesej ini.',
  },
  nb: norwegian,
  nl: {
    short: '{code} is je verificatiecode voor {app}.',
    valid: 'De code is {minutes} min. geldig.',
    notRequested: 'Heb je er niet om gevraagd? Negeer dan dit bericht.',
  },
  no: norwegian,
  pl: {
    short: '{code} to Twój kod weryfikacyjny {app}.',
    valid: 'Kod jest ważny przez {minutes} min.',
    notRequested: 'Jeśli to nie Ty o niego prosisz, zignoruj tę wiadomość.',
  },
  pt: {
    short: '{app}: {code} é o seu código de verificação.',
    valid: 'É válido por {minutes} min.',
    notRequested: 'Se não pediu este código, ignore esta mensagem.',
  },
  ro: {
    short: '{code} este codul tău de verificare {app}.',
    valid: 'Codul este valabil {minutes} min.',
    notRequested: 'Dacă nu l-ai cerut, ignoră acest mesaj.',
  },
  ru: {
    short: '{app}: {code} — ваш код подтверждения.',
    valid: 'Код действителен {minutes} мин.',
    notRequested: 'Если вы его не запрашивали, не обращайте внимания на это сообщение.',
  },
  sk: {
    short: '{code} je váš overovací kód pre {app}.',
    valid: 'Kód platí {minutes} min.',
    notRequested: 'Ak ste oň nežiadali, túto správu ignorujte.',
  },
  sl: {
    short: '{app}: {code} je vaša potrditvena koda.',
    valid: 'Koda velja {minutes} min.',
    notRequested: 'Če je niste zahtevali, prezrite to sporočilo.',
  },
  sr: {
    short: '{app}: {code} је ваш код за потврду.',
    valid: 'Код важи {minutes} мин.',
    notRequested: 'Ако га нисте тражили, занемарите ову поруку.',
  },
  sv: {
    short: '{code} är din verifieringskod för {app}.',
    valid: 'Koden gäller i {minutes} min.',
    notRequested: 'Om du inte har bett om den kan du bortse från det här meddelandet.',
  },
  sw: {
    short: '{code} ni nambari yako ya uthibitishaji ya {app}.',
    valid: 'Inatumika kwa dakika {minutes}.',
    notRequested: 'Ikiwa hukuiomba, puuza ujumbe huu.',
  },
  th: {
    short: '{code} คือรหัสยืนยัน {app} ของคุณ',
    valid: 'รหัสนี้ใช้ได้ภายใน {minutes} นาที',
    notRequested: 'หากคุณไม่ได้ขอรหัสนี้ โปรดเพิกเฉยต่อข้อความนี้',
  },
  tr: {
    short: '{app} doğrulama kodunuz: {code}',
    valid: 'Kod {minutes} dakika geçerlidir.',
    notRequested: 'Bu kodu siz istemediyseniz bu mesajı dikkate almayın.',
  },
  uk: {
    short: '{app}: {code} — ваш код підтвердження.',
    valid: 'Код дійсний {minutes} хв.',
    notRequested: 'Якщо ви його не запитували, не зважайте на це повідомлення.',
  },
  ur: {
    short: '{code} آپ کا {app} تصدیقی کوڈ ہے۔',
    valid: 'یہ کوڈ {minutes} منٹ تک کارآمد ہے۔',
    notRequested: 'اگر آپ نے اسے طلب نہیں کیا تو اس پیغام کو نظر انداز کریں۔',
  },
  vi: {
    short: '{code} là mã xác minh {app} của bạn.',
    valid: 'Mã có hiệu lực trong {minutes} phút.',
    notRequested: 'Nếu bạn không yêu cầu mã này, hãy bỏ qua tin nhắn này.',
  },
  zh: {
    short: '{code} 是您的 {app} 验证码。',
    valid: '{minutes} 分钟内有效。',
    notRequested: '如果您没有请求此验证码，请忽略此消息。',
  },
  'zh-HK': traditionalChinese,
  'zh-Hant': traditionalChinese,
  'zh-TW': traditionalChinese,
}
