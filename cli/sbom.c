#define _GNU_SOURCE /* dl_iterate_phdr */
#include "cli/sbom.h"

#include "cli/sums.h"
#include "reports/json_line.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

#define SELF "/proc/self/exe"

/* "libjansson.so.4.14.0": the version is what stands after ".so."; "": it does not say. */
static const char *version_in(const char *file)
{
    const char *at = strstr(file, ".so.");
    return at == NULL ? "" : at + 4;
}

/* An SPDX identifier has letters, digits, dots and hyphens. */
static void write_id(char *id, size_t size, const char *name)
{
    int used = snprintf(id, size, "SPDXRef-%s", name);
    for (int i = 0; i < used && (size_t)i < size && id[i] != '\0'; i++) {
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-", id[i]) ==
            NULL) {
            id[i] = '-';
        }
    }
}

static json_t *package(const char *name, const char *version, const char *hash, const char *license,
                       const char *purpose)
{
    char id[200];
    write_id(id, sizeof id, name);
    json_t *one = json_pack("{s:s, s:s, s:s, s:b, s:s, s:s, s:s, s:s, s:[{s:s, s:s}]}", "SPDXID",
                            id, "name", name, "downloadLocation", "NOASSERTION", "filesAnalyzed", 0,
                            "licenseConcluded", "NOASSERTION", "licenseDeclared", license,
                            "copyrightText", "NOASSERTION", "primaryPackagePurpose", purpose,
                            "checksums", "algorithm", "SHA256", "checksumValue", hash);
    if (version[0] != '\0') {
        json_object_set_new(one, "versionInfo", json_string(version));
    }
    return one;
}

static json_t *relation(const char *from, const char *type, const char *to)
{
    char id[200];
    write_id(id, sizeof id, to);
    return json_pack("{s:s, s:s, s:s}", "spdxElementId", from, "relationshipType", type,
                     "relatedSpdxElement", id);
}

struct materials {
    json_t *packages, *relations;
};

/* One shared object; the program itself and what has no file are none. */
static int add_library(struct dl_phdr_info *about, size_t size, void *context)
{
    struct materials *materials = context;
    char *path = about->dlpi_name[0] == '\0' ? NULL : realpath(about->dlpi_name, NULL);
    (void)size;
    if (path == NULL) {
        return 0;
    }
    const char *slash = strrchr(path, '/'), *file = slash == NULL ? path : slash + 1;
    json_array_append_new(
        materials->packages,
        package(file, version_in(file), sums_hash_file(path).text, "NOASSERTION", "LIBRARY"));
    json_array_append_new(materials->relations, relation("SPDXRef-assay", "DYNAMIC_LINK", file));
    free(path);
    return 0;
}

void sbom_write(FILE *out, const char *version, const char *created)
{
    struct materials materials = {json_array(), json_array()};
    struct sums_hash hash = sums_hash_file(SELF);
    json_array_append_new(materials.packages,
                          package("assay", version, hash.text, "NOASSERTION", "APPLICATION"));
    json_array_append_new(materials.relations, relation("SPDXRef-DOCUMENT", "DESCRIBES", "assay"));
    dl_iterate_phdr(add_library, &materials);
    json_line_write(out, json_pack("{s:s, s:s, s:s, s:s, s:o, s:{s:s, s:[o]}, s:o, s:o}",
                                   "spdxVersion", "SPDX-2.3", "dataLicense", "CC0-1.0", "SPDXID",
                                   "SPDXRef-DOCUMENT", "name", "assay", "documentNamespace",
                                   json_sprintf("https://spdx.org/spdxdocs/assay-%s", hash.text),
                                   "creationInfo", "created", created, "creators",
                                   json_sprintf("Tool: assay-%s", version), "packages",
                                   materials.packages, "relationships", materials.relations));
}
