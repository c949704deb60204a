// SPDX-License-Identifier: Apache-2.0

/// A PAM module that does what its arguments say, in order.
package enum TestModule {
    /// Builds it; gives its path.
    package static func build(in scratch: Scratch) async throws -> String {
        let source = try scratch.write("module.c", text)
        let module = scratch.file("pam_test.so")
        let built = try await run(
            "/usr/bin/cc", ["-shared", "-fPIC", "-o", module, source, "-lpam"])
        guard built.status == 0 else {
            throw Child.Ended(awaited: "a PAM module", log: built.errors)
        }
        return module
    }

    /// `info=` and `error=` say something; `off=` and `on=` ask, and want that for an answer;
    /// `both=` asks twice at once; `user=` changes the user; `style=` sends a message of a kind
    /// that nobody knows; `none` sends no message at all; anything else is no.
    private static let text = #"""
        #include <security/pam_ext.h>
        #include <security/pam_modules.h>
        #include <stdlib.h>
        #include <string.h>
        static int ask(pam_handle_t *pam, int style, const char *wanted) {
          char *answer = NULL;
          int code = pam_prompt(pam, style, &answer, "Frage für %s: ", wanted);
          if (code != PAM_SUCCESS) return code;
          code = answer != NULL && strcmp(answer, wanted) == 0 ? PAM_SUCCESS : PAM_AUTH_ERR;
          free(answer);
          return code;
        }
        static int converse(pam_handle_t *pam, int count, int first, int second,
                            struct pam_response **answers) {
          const struct pam_conv *way;
          int code = pam_get_item(pam, PAM_CONV, (const void **)&way);
          if (code != PAM_SUCCESS) return code;
          struct pam_message messages[2] = {{first, "one"}, {second, "two"}};
          const struct pam_message *list[2] = {&messages[0], &messages[1]};
          return way->conv(count, list, answers, way->appdata_ptr);
        }
        static int act(pam_handle_t *pam, const char *what) {
          const char *value = strchr(what, '=') ? strchr(what, '=') + 1 : "";
          struct pam_response *answers = NULL;
          if (!strncmp(what, "info=", 5)) return pam_info(pam, "%s", value);
          if (!strncmp(what, "error=", 6)) return pam_error(pam, "%s", value);
          if (!strncmp(what, "off=", 4)) return ask(pam, PAM_PROMPT_ECHO_OFF, value);
          if (!strncmp(what, "on=", 3)) return ask(pam, PAM_PROMPT_ECHO_ON, value);
          if (!strncmp(what, "user=", 5)) return pam_set_item(pam, PAM_USER, value);
          if (!strncmp(what, "both=", 5)) {
            int code = converse(pam, 2, PAM_PROMPT_ECHO_OFF, PAM_PROMPT_ECHO_ON, &answers);
            if (code != PAM_SUCCESS) return code;
            return strcmp(answers[0].resp, value) || strcmp(answers[1].resp, value)
                ? PAM_AUTH_ERR : PAM_SUCCESS;
          }
          if (!strncmp(what, "style=", 6)) {
            // It must be refused whole; if it is not, this is a yes.
            int code = converse(pam, 2, PAM_PROMPT_ECHO_OFF, atoi(value), &answers);
            return code == PAM_SUCCESS ? PAM_SUCCESS : PAM_CONV_ERR;
          }
          if (!strcmp(what, "none")) {
            return converse(pam, 0, 0, 0, &answers) == PAM_SUCCESS ? PAM_AUTH_ERR : PAM_SUCCESS;
          }
          return PAM_AUTH_ERR;
        }
        int pam_sm_authenticate(pam_handle_t *pam, int flags, int count, const char **words) {
          (void)flags;
          for (int i = 0; i < count; i++) {
            int code = act(pam, words[i]);
            if (code != PAM_SUCCESS) return code;
          }
          return PAM_SUCCESS;
        }
        int pam_sm_setcred(pam_handle_t *pam, int flags, int count, const char **words) {
          (void)pam, (void)flags, (void)count, (void)words;
          return PAM_SUCCESS;
        }
        int pam_sm_acct_mgmt(pam_handle_t *pam, int flags, int count, const char **words) {
          return pam_sm_authenticate(pam, flags, count, words);
        }
        """#
}
