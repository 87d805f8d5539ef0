// JDBC: portals with a fetch size, batches, prepared statements by name, COPY, notifications.
import java.io.StringReader;
import java.io.StringWriter;
import java.sql.*;
import java.util.Arrays;
import org.postgresql.PGConnection;

public class JdbcClient {
    public static void main(String[] words) throws Exception {
        String url = "jdbc:postgresql://127.0.0.1:" + words[0] + "/postgres?user=assay&prepareThreshold=3";
        try (Connection db = DriverManager.getConnection(url); Statement s = db.createStatement()) {
            s.execute("drop table if exists jd; create table jd (a int primary key, b text)");
            try (PreparedStatement add = db.prepareStatement("insert into jd values (?, ?)")) {
                for (int i = 0; i < 100; i++) {
                    add.setInt(1, i);
                    add.setString(2, "x".repeat(i));
                    add.addBatch();
                }
                System.out.println(Arrays.stream(add.executeBatch()).sum());
                for (int i = 100; i < 110; i++) {
                    add.setInt(1, i);
                    add.setString(2, "single");
                    System.out.println(add.executeUpdate());
                }
            }
            db.setAutoCommit(false);
            try (Statement cursor = db.createStatement()) {
                cursor.setFetchSize(7);
                long sum = 0;
                try (ResultSet rows = cursor.executeQuery("select a from jd order by a")) {
                    while (rows.next()) {
                        sum += rows.getInt(1);
                    }
                }
                System.out.println(sum);
            }
            try {
                s.executeUpdate("insert into jd values (1, 'twice')");
            } catch (SQLException error) {
                System.out.println(error.getSQLState());
            }
            db.rollback();
            PGConnection pg = db.unwrap(PGConnection.class);
            StringBuilder lines = new StringBuilder();
            for (int i = 1000; i < 20000; i++) {
                lines.append(i).append("\tcopied\n");
            }
            System.out.println(pg.getCopyAPI().copyIn("copy jd from stdin", new StringReader(lines.toString())));
            db.commit();
            StringWriter out = new StringWriter();
            System.out.println(pg.getCopyAPI().copyOut("copy (select * from jd order by a) to stdout", out));
            System.out.println(out.toString().hashCode());
            db.setAutoCommit(true);
            s.execute("listen jd");
            s.execute("notify jd, 'hello'");
            System.out.println(pg.getNotifications()[0].getParameter());
            String big = "y".repeat(20000000);
            try (PreparedStatement echo = db.prepareStatement("select ?::text")) {
                echo.setString(1, big);
                try (ResultSet row = echo.executeQuery()) {
                    row.next();
                    System.out.println(row.getString(1).equals(big));
                }
            }
        }
    }
}
