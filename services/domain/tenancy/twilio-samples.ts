// How an app that uses Twilio's own library is pointed at Countersign: one text for each language, shown in the dashboard and in
// docs/compat-twilio.md. `npm run test:compat` runs both with the real libraries. The libraries have no setting for another address, but
// take an HTTP client, which is where everyone who puts a proxy before Twilio replaces it.

export interface TwilioAccess {
  /** The address of the deployment, without a slash at its end. */
  url: string
  account_sid: string
  service_sid: string
}

export const twilioNodeSample = ({
  url,
  account_sid,
  service_sid,
}: TwilioAccess): string => `import twilio from 'twilio'

class CountersignClient extends twilio.RequestClient {
  request(options) {
    const uri = options.uri.replace('https://verify.twilio.com', '${url}/compat/twilio')
    return super.request({ ...options, uri })
  }
}

const httpClient = new CountersignClient()
const client = twilio('${account_sid}', process.env.COUNTERSIGN_KEY, { httpClient })
const service = client.verify.v2.services('${service_sid}')`

export const twilioPythonSample = ({ url, account_sid, service_sid }: TwilioAccess): string => `import os
from twilio.http.http_client import TwilioHttpClient
from twilio.rest import Client

class CountersignClient(TwilioHttpClient):
    def request(self, method, url, *args, **kwargs):
        url = url.replace("https://verify.twilio.com", "${url}/compat/twilio")
        return super().request(method, url, *args, **kwargs)

client = Client("${account_sid}", os.environ["COUNTERSIGN_KEY"], http_client=CountersignClient())
service = client.verify.v2.services("${service_sid}")`
